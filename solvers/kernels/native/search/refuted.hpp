// Remembers what has been searched in vain, across restarts.
//
// What is left to do depends on nothing but the unplaced blocks and their lows: is there a placement with every block at its low or above,
// and below the height? Stacks in another order lead there again and again. A state is kept as 128 bits of hash; that two states of one search
// agree in all of them is less likely than an undetected error of the machine.
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
    static constexpr int kMostBlocks = 1000;  // beyond, attempts rarely come back to where they were

    using Key = std::pair<std::uint64_t, std::uint64_t>;

    static void add(Key& key, int block, Coord low) {
        const std::uint64_t z = mix(static_cast<std::uint64_t>(low) * kGolden + static_cast<std::uint64_t>(block) * 0xD1B54A32D192ED03ULL);
        key.first += z;
        key.second += mix(z ^ 0xA0761D6478BD642FULL);
    }

    // What is inserted from here on can be forgotten again, until it is kept.
    void begin() { replaced_.emplace_back(); }

    // What was inserted since the last begin.
    void forget() {
        const auto& last = replaced_.back();
        for (auto slot = last.rbegin(); slot != last.rend(); ++slot) known_[slot->first] = slot->second;
        replaced_.pop_back();
    }

    // What was inserted after the first begin, up to the next.
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

    std::vector<Key> known_;  // the latest of each slot
    std::deque<std::vector<std::pair<std::size_t, Key>>> replaced_;  // by begin
};

}  // namespace memplan
