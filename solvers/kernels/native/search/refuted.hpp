// Remembers states that were shown to be impossible, across restarts.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "search/building/model.hpp"
#include "shared/random.hpp"

namespace memplan {

class Refuted {
  public:
    static constexpr int kMostBlocks = 1000;  // with more blocks, attempts rarely reach the same state again

    using Key = std::pair<std::uint64_t, std::uint64_t>;

    static void add(Key& key, int block, Coord low) {
        const std::uint64_t z = mix(static_cast<std::uint64_t>(low) * kGolden + static_cast<std::uint64_t>(block) * 0xD1B54A32D192ED03ULL);
        key.first += z;
        key.second += mix(z ^ 0xA0761D6478BD642FULL);
    }

    // Insertions from here on can be forgotten, until they are kept.
    void begin() { replaced_.emplace_back(); }

    // Removes the insertions since the last begin.
    void forget() {
        const auto& last = replaced_.back();
        for (auto slot = last.rbegin(); slot != last.rend(); ++slot) known_[slot->first] = slot->second;
        replaced_.pop_back();
    }

    // Keeps the insertions between the first begin and the next.
    void keep() { replaced_.pop_front(); }

    void insert(const Key& key) {
        if (known_.empty()) known_.resize(kSlots);
        Key& slot = known_[key.first % kSlots];
        replaced_.back().emplace_back(key.first % kSlots, slot);
        slot = key;
    }

    bool contains(const Key& key) const { return !known_.empty() && known_[key.first % kSlots] == key; }

  private:
    static constexpr std::size_t kSlots = std::size_t{1} << 18;

    std::vector<Key> known_;  // the latest key of each slot
    std::deque<std::vector<std::pair<std::size_t, Key>>> replaced_;  // by begin
};

}  // namespace memplan
