// Remembers states that were shown to be impossible, across restarts.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
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
        for (auto slot = last.rbegin(); slot != last.rend(); ++slot) at(slot->first) = slot->second;
        replaced_.pop_back();
    }

    // Keeps the insertions between the first begin and the next.
    void keep() { replaced_.pop_front(); }

    void insert(const Key& key) {
        if (known_.empty()) known_.resize(kSlots / kPageSlots);
        Key& slot = at(key.first % kSlots);
        replaced_.back().emplace_back(key.first % kSlots, slot);
        slot = key;
    }

    bool contains(const Key& key) const {
        if (known_.empty()) return false;
        const std::size_t slot = key.first % kSlots;
        const auto& page = known_[slot / kPageSlots];
        return page && (*page)[slot % kPageSlots] == key;
    }

  private:
    static constexpr std::size_t kSlots = std::size_t{1} << 18, kPageSlots = 64;
    using Page = std::array<Key, kPageSlots>;

    Key& at(std::size_t slot) {
        auto& page = known_[slot / kPageSlots];
        if (!page) page = std::make_unique<Page>();
        return (*page)[slot % kPageSlots];
    }

    std::vector<std::unique_ptr<Page>> known_;  // the latest key of each slot; a page is made once it is needed: all would take a short search a millisecond
    std::deque<std::vector<std::pair<std::size_t, Key>>> replaced_;  // by begin
};

}  // namespace memplan
