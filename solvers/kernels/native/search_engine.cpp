#include "search_engine.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace memplan {

namespace {

constexpr Coord kPlaced = std::numeric_limits<Coord>::max();
constexpr int kNone = -1;

template <bool Plain>
class Decision final : public Engine {
  public:
    explicit Decision(const Model& model)
        : m_(model),
          n_(model.blocks()),
          cliques_(model.cliques()),
          aligned_(std::any_of(model.modulus.begin(), model.modulus.end(), [](Coord a) { return a != 1; })),
          stopped_starts_(!model.stops.values.empty()),
          low_(n_),
          high_(n_),
          hanging_(Plain ? 0 : n_, 0),
          state_(cliques_),
          saved_(cliques_, 0),
          sum_(cliques_),
          ceiling_(cliques_),
          count_(cliques_),
          member_(model.clique.values),
          member_entry_(model.clique.values.size()),
          slot_(model.clique.values.size()),
          uneven_(cliques_, 0),
          queued_(cliques_, 0),
          queue_(cliques_ + 1),
          noise_(cliques_),
          crossing_(cliques_ + 1) {
        offset_.resize(n_);
        weight_.assign(cliques_, 0);
        rank_orders();
        for (int j = 0; j < n_; ++j) twins_of_.push_back({model.twin[j], j});
        std::sort(twins_of_.begin(), twins_of_.end());
        twin_first_.assign(n_, 0);
        twin_last_.assign(n_, 0);
        for (int i = 0; i < n_;) {
            int e = i;
            while (e < n_ && twins_of_[e].first == twins_of_[i].first) ++e;
            for (int t = i; t < e; ++t) twin_first_[twins_of_[t].second] = i, twin_last_[twins_of_[t].second] = e;
            i = e;
        }
    }

    Answer decide(Coord height, const Style& style, Watch& watch) override {
        if (!start(height, style)) return Answer::kImpossible;
        const std::int64_t last = nodes_ + style.nodes, last_work = work_ + style.work;
        std::int64_t next_look = work_ + kLookEvery;
        cut_ = true;
        divide();
        for (;;) {
            if (work_ >= next_look) {
                next_look = work_ + kLookEvery;
                if (watch.stopped()) return Answer::kStopped;
            }
            const int chosen = choose();
            if (chosen == kNone) {
                if (agenda_ == kNone) return Answer::kFound;
                part_ = agenda_;
                agenda_ = parts_[part_].next;
                parts_[part_].start = static_cast<int>(frames_.size());
                continue;
            }
            if (raise_to_ == kPlaced) {
                if (place(chosen) && settle()) {
                    divide();
                    continue;
                }
            } else {
                if (nodes_ >= last || work_ >= last_work) return Answer::kBudget;
                ++nodes_;
                push(chosen);
                if (place(chosen) && settle()) {
                    divide();
                    continue;
                }
            }
            if (!backtrack()) return Answer::kImpossible;
        }
    }

  private:
    static constexpr std::int64_t kLookEvery = 500'000;  // about a millisecond

    struct State {
        Coord floor;   // least bottom of an unplaced member
        Coord reach;   // the lowest unplaced member begins no higher than this
        int candidates;  // members that may be the lowest
    };
    struct Frame {
        int block;
        Coord raise_to;
        int part, agenda, parts;
        std::size_t lows, states, places, hangs;
    };
    // A stretch of cliques that no unplaced block leaves: it is solved on its own.
    struct Part {
        int from, to;
        int parent, next;
        int height;  // frames when it came to be
        int start;   // frames when its turn came
    };

    const Model& m_;
    const int n_, cliques_;
    const bool aligned_, stopped_starts_;
    std::vector<Coord> low_, high_;
    std::vector<int> hanging_;  // how many placed blocks a block has that it need not lie above
    std::vector<State> state_;
    std::vector<std::uint32_t> saved_;
    std::uint32_t epoch_ = 0;
    std::vector<Coord> sum_, ceiling_;
    std::vector<int> count_;
    std::vector<int> member_, member_entry_, slot_;  // the unplaced members of a clique come first in its row
    std::vector<char> uneven_;  // members cannot all end at the ceiling
    std::vector<char> queued_;
    std::vector<int> queue_;
    int queue_head_ = 0, queue_size_ = 0;
    std::vector<std::uint32_t> noise_;
    std::vector<int> crossing_;
    bool cut_ = false;
    std::vector<int> rank_[kOrders];
    const int* order_ = nullptr;
    int rule_ = 0;
    Coord scale_ = 1;
    Coord raise_to_ = kPlaced;
    std::vector<std::pair<int, int>> twins_of_;
    std::vector<int> twin_first_, twin_last_;

    std::vector<Frame> frames_;
    std::vector<Part> parts_;
    int part_ = 0, agenda_ = kNone;
    std::vector<std::pair<int, Coord>> low_trail_;
    std::vector<std::pair<int, State>> state_trail_;
    std::vector<int> place_trail_, hang_trail_;

    struct Rule {
        std::uint64_t slack, weight;  // how much slack and failures are damped
    };
    static constexpr Rule kRule[kRules] = {{16, 64}, {64, 24}};

    void rank_orders() {
        std::vector<Coord> area(n_);
        for (int j = 0; j < n_; ++j) {
            // Only an order: saturating is enough.
            if (__builtin_mul_overflow(m_.lifetime[j], m_.size[j], &area[j])) area[j] = kPlaced;
        }
        const auto& width = m_.lifetime;
        const auto& total = m_.size;
        const auto key = [&](int order, int j) {
            if (order == 0) return std::tuple(-width[j], -area[j], -total[j], j);
            if (order == 1) return std::tuple(-total[j], -area[j], -width[j], j);
            return std::tuple(-total[j], -width[j], -area[j], j);
        };
        for (int order = 0; order < kOrders; ++order) {
            std::vector<int> by(n_);
            std::iota(by.begin(), by.end(), 0);
            std::sort(by.begin(), by.end(), [&](int a, int b) { return key(order, a) < key(order, b); });
            rank_[order].resize(n_);
            for (int i = 0; i < n_; ++i) rank_[order][by[i]] = i;
        }
    }

    // --- geometry ---

    Coord bottom(int entry) const { return Plain ? 0 : m_.extent[entry].bottom; }
    Coord solid_top(int entry, int block) const {
        return Plain ? m_.size[block] : m_.extent[entry].bottom + m_.extent[entry].solid;
    }
    Coord entry_height(int entry, int block) const { return Plain ? m_.size[block] : m_.extent[entry].height; }
    Coord entry_top(int entry, int block) const { return Plain ? m_.size[block] : m_.extent[entry].top; }

    Coord align_up(int block, Coord x) const {
        const Coord modulus = m_.modulus[block];
        if (modulus == 1) return x;
        const Coord over = (((x - m_.residue[block]) % modulus) + modulus) % modulus;
        return over == 0 ? x : x + (modulus - over);
    }

    Coord align_down(int block, Coord x) const {
        const Coord modulus = m_.modulus[block];
        return x - (((x - m_.residue[block]) % modulus) + modulus) % modulus;
    }

    Coord skip_stops(int block, Coord x) const {
        const auto* begin = m_.stops.values.data() + m_.stops.begin(block);
        const auto* end = m_.stops.values.data() + m_.stops.end(block);
        for (const auto* stop = begin; stop != end; ++stop) {
            if (x < stop->from) break;
            if (x < stop->to) x = stop->to;
        }
        return x;
    }

    // The least distance x[other] - x[block] from `apart` on that edge (of block) leaves open.
    Coord open_distance(int edge, Coord apart) const {
        const int row = m_.split[edge];
        if (row == kNone) {
            const Gap gap = m_.distance[edge];
            return apart > gap.low && apart < gap.high ? gap.high : apart;
        }
        for (int i = m_.pieces.begin(row); i < m_.pieces.end(row); ++i) {
            const Gap gap = m_.pieces.values[i];
            if (apart > gap.low && apart < gap.high) apart = gap.high;
        }
        return apart;
    }

    // The least feasible start from x on, given what is placed.
    Coord feasible(int block, Coord x) {
        for (;;) {
            const Coord before = x;
            if (aligned_) x = align_up(block, x);
            if (stopped_starts_) x = skip_stops(block, x);
            if constexpr (!Plain) {
                if (hanging_[block] > 0 && x == before) {
                    for (int e = m_.neighbours.begin(block); e < m_.neighbours.end(block); ++e) {
                        const int other = m_.neighbours.values[e];
                        if (low_[other] != kPlaced) continue;
                        // Distances are counted from the other block here: mirror the edge.
                        x = offset_[other] + open_distance_from(e, x - offset_[other]);
                    }
                    work_ += m_.neighbours.end(block) - m_.neighbours.begin(block);
                }
            }
            if (x == before || x > high_[block]) return x;
        }
    }

    // As open_distance, but for x[block] - x[other].
    Coord open_distance_from(int edge, Coord apart) const {
        const int row = m_.split[edge];
        if (row == kNone) {
            const Gap gap = m_.distance[edge];
            return apart > -gap.high && apart < -gap.low ? -gap.low : apart;
        }
        for (int i = m_.pieces.end(row) - 1; i >= m_.pieces.begin(row); --i) {
            const Gap gap = m_.pieces.values[i];
            if (apart > -gap.high && apart < -gap.low) apart = -gap.low;
        }
        return apart;
    }

    // --- state, and its trail ---

    void enqueue(int c) {
        if (queued_[c]) return;
        queued_[c] = 1;
        int at = queue_head_ + queue_size_;
        if (at >= cliques_) at -= cliques_;
        queue_[at] = c;
        ++queue_size_;
    }

    void clear_queue() {
        while (queue_size_ > 0) {
            queued_[queue_[queue_head_]] = 0;
            if (++queue_head_ == cliques_) queue_head_ = 0;
            --queue_size_;
        }
    }

    bool raise_low(int block, Coord x) {
        const Coord before = low_[block];
        if (aligned_ || stopped_starts_ || (!Plain && hanging_[block] > 0)) x = feasible(block, x);
        if (x > high_[block]) {
            blame(block);
            return false;
        }
        low_trail_.emplace_back(block, before);
        low_[block] = x;
        const int first = m_.entries.begin(block), last = m_.entries.end(block);
        for (int i = first; i < last; ++i) {
            const int entry = m_.entries.values[i];
            const int c = m_.entry_clique[entry];
            // Members that could not be the lowest before change nothing by moving up.
            if (before + bottom(entry) <= state_[c].reach) enqueue(c);
        }
        work_ += last - first;
        return true;
    }

    // A block without room: its fullest clique is to blame.
    void blame(int block) {
        int worst = kNone;
        for (int i = m_.entries.begin(block); i < m_.entries.end(block); ++i) {
            const int c = m_.entry_clique[m_.entries.values[i]];
            if (worst == kNone || state_[c].floor > state_[worst].floor) worst = c;
        }
        if (worst != kNone) ++weight_[worst];
    }

    void save(int c) {
        if (saved_[c] == epoch_) return;
        saved_[c] = epoch_;
        state_trail_.emplace_back(c, state_[c]);
    }

    bool place(int block) {
        const Coord x = low_[block];
        offset_[block] = x;
        low_trail_.emplace_back(block, x);
        low_[block] = kPlaced;
        place_trail_.push_back(block);
        for (int i = m_.entries.begin(block); i < m_.entries.end(block); ++i) {
            const int entry = m_.entries.values[i];
            const int c = m_.entry_clique[entry];
            const int base = m_.clique.begin(c), last = base + --count_[c], at = slot_[entry];
            const int moved = member_entry_[last], moved_block = member_[last];
            member_entry_[last] = entry, member_[last] = block, slot_[entry] = last;
            member_entry_[at] = moved, member_[at] = moved_block, slot_[moved] = at;
            sum_[c] -= entry_height(entry, block);
            enqueue(c);
        }
        for (int c = m_.first_clique[block]; c < m_.last_clique[block]; ++c) {
            if (--crossing_[c] == 0) cut_ = true;
        }
        const int first = m_.neighbours.begin(block), last = m_.neighbours.end(block);
        work_ += last - first + 2 * (m_.entries.end(block) - m_.entries.begin(block));
        if constexpr (Plain) {
            const Coord end = x + m_.size[block];
            for (int e = first; e < last; ++e) {
                const int other = m_.neighbours.values[e];
                if (low_[other] < end && !raise_low(other, end)) return false;
            }
        } else {
            for (int e = first; e < last; ++e) {
                const int other = m_.neighbours.values[e];
                if (low_[other] == kPlaced) continue;
                const Coord apart = low_[other] - x, next = open_distance(e, apart);
                if (next < m_.distance[e].high) {
                    ++hanging_[other];
                    hang_trail_.push_back(other);
                }
                if (next > apart && !raise_low(other, x + next)) return false;
            }
        }
        return true;
    }

    void unplace(int block) {
        for (int i = m_.entries.begin(block); i < m_.entries.end(block); ++i) {
            const int entry = m_.entries.values[i];
            const int c = m_.entry_clique[entry];
            ++count_[c];
            sum_[c] += entry_height(entry, block);
        }
        for (int c = m_.first_clique[block]; c < m_.last_clique[block]; ++c) ++crossing_[c];
    }

    // Brings all queued cliques up to date; false if one of them cannot hold its members.
    bool settle() {
        while (queue_size_ > 0) {
            const int c = queue_[queue_head_];
            if (++queue_head_ == cliques_) queue_head_ = 0;
            --queue_size_;
            queued_[c] = 0;
            if (!refresh(c)) {
                clear_queue();
                return false;
            }
        }
        return true;
    }

    bool refresh(int c) {
        const int count = count_[c], base = m_.clique.begin(c);
        save(c);
        State& state = state_[c];
        if (count == 0) {
            state = {0, -1, 0};
            return true;
        }
        const int* block = member_.data() + base;
        const int* entry = member_entry_.data() + base;
        work_ += 2 * count;
        Coord floor = floor_of(c);
        Coord reach;
        if (uneven_[c]) {
            // Not all can end equally high, so what is left decides how much room there is; and if it takes one certain member to end
            // high enough, that one is the last.
            Coord highest = -1, second = -1;
            int last = kNone;
            for (int i = 0; i < count; ++i) {
                const Coord top = high_[block[i]] + entry_top(entry[i], block[i]);
                if (top > highest) {
                    second = highest, highest = top, last = i;
                } else {
                    second = std::max(second, top);
                }
            }
            work_ += count;
            reach = reach_below(c, highest);
            if (reach >= floor && second - floor < sum_[c]) {
                const Coord x = floor + sum_[c] - entry_top(entry[last], block[last]);
                if (low_[block[last]] < x) {
                    if (!raise_low(block[last], x)) return false;
                    floor = floor_of(c);
                }
            }
        } else {
            reach = reach_below(c, ceiling_[c]);
        }
        if (reach < floor) {
            ++weight_[c];
            return false;
        }
        // What cannot be the lowest lies above the earliest end of what can.
        Coord end = kPlaced;
        int candidates = 0;
        for (int i = 0; i < count; ++i) {
            const Coord low = low_[block[i]];
            if (low + bottom(entry[i]) <= reach) {
                ++candidates;
                end = std::min(end, low + solid_top(entry[i], block[i]));
            }
        }
        state = {floor, reach, candidates};
        if (candidates < count) {
            for (int i = 0; i < count; ++i) {
                const Coord begin = low_[block[i]] + bottom(entry[i]);
                if (begin > reach && begin < end && !raise_low(block[i], end - bottom(entry[i]))) return false;
            }
        }
        return true;
    }

    Coord floor_of(int c) const {
        const int base = m_.clique.begin(c);
        Coord floor = kPlaced;
        for (int i = base; i < base + count_[c]; ++i) floor = std::min(floor, low_[member_[i]] + bottom(member_entry_[i]));
        return floor;
    }

    // The greatest address from which up to the top the clique still has room for all its unplaced members.
    Coord reach_below(int c, Coord top) const {
        Coord need = sum_[c];
        for (int i = m_.obstacles.end(c) - 1; i >= m_.obstacles.begin(c); --i) {
            const Range obstacle = m_.obstacles.values[i];
            if (obstacle.from >= top) continue;
            if (obstacle.to < top) {
                if (top - obstacle.to >= need) break;
                need -= top - obstacle.to;
            }
            top = obstacle.from;
        }
        return top - need;
    }

    void push(int block) {
        frames_.push_back({block, raise_to_, part_, agenda_, static_cast<int>(parts_.size()), low_trail_.size(),
                           state_trail_.size(), place_trail_.size(), hang_trail_.size()});
        ++epoch_;
    }

    void undo(const Frame& frame) {
        clear_queue();
        while (place_trail_.size() > frame.places) {
            unplace(place_trail_.back());
            place_trail_.pop_back();
        }
        while (low_trail_.size() > frame.lows) {
            low_[low_trail_.back().first] = low_trail_.back().second;
            low_trail_.pop_back();
        }
        while (state_trail_.size() > frame.states) {
            state_[state_trail_.back().first] = state_trail_.back().second;
            state_trail_.pop_back();
        }
        while (hang_trail_.size() > frame.hangs) {
            --hanging_[hang_trail_.back()];
            hang_trail_.pop_back();
        }
        part_ = frame.part;
        agenda_ = frame.agenda;
        parts_.resize(frame.parts);
        cut_ = false;
        ++epoch_;
    }

    // Undoes the last open choice of the part at hand and takes its other side, until that holds.
    bool backtrack() {
        clear_queue();
        for (;;) {
            while (static_cast<int>(frames_.size()) == parts_[part_].start) {
                // This part is impossible whatever its siblings do: what they chose is of no account.
                if (parts_[part_].parent == kNone) return false;
                const Part gone = parts_[part_];
                while (static_cast<int>(frames_.size()) > gone.height) {
                    undo(frames_.back());
                    frames_.pop_back();
                }
                part_ = gone.parent;
            }
            const Frame frame = frames_.back();
            frames_.pop_back();
            undo(frame);
            if (raise_twins(frame.block, frame.raise_to) && settle()) return true;
            clear_queue();
        }
    }

    // Interchangeable blocks at the same low: if one of them cannot be there, none can.
    bool raise_twins(int block, Coord x) {
        const Coord before = low_[block];
        for (int t = twin_first_[block]; t < twin_last_[block]; ++t) {
            const int other = twins_of_[t].second;
            if (low_[other] == before && !raise_low(other, x)) return false;
        }
        return true;
    }

    // --- choosing ---

    // The next block to branch on, or kNone; sets raise_to_ to where it must lie at least if not at its low (kPlaced: it need not be tried).
    int choose() {
        const Part& part = parts_[part_];
        int best = kNone;
        std::uint64_t best_score = 0;
        for (int c = part.from; c < part.to; ++c) {
            if (count_[c] == 0) continue;
            const std::uint64_t score = score_of(c);
            if (best == kNone || score < best_score) best = c, best_score = score;
        }
        work_ += part.to - part.from;
        if (best == kNone) return kNone;
        const int base = m_.clique.begin(best);
        int block = kNone;
        Coord least = kPlaced;
        for (int i = 0; i < count_[best]; ++i) {
            const int j = member_[base + i];
            const Coord low = low_[j] + bottom(member_entry_[base + i]);
            if (block == kNone || low < least || (low == least && order_[j] < order_[block])) block = j, least = low;
        }
        return descend(block);
    }

    // From a block down to one that nothing unplaced can lie below.
    int descend(int block) {
        for (int steps = 0;; ++steps) {
            const int first = m_.neighbours.begin(block), last = m_.neighbours.end(block);
            const Coord x = low_[block];
            work_ += last - first;
            int below = kNone;
            Coord below_end = kPlaced, raise = kPlaced;
            for (int e = first; e < last; ++e) {
                const int other = m_.neighbours.values[e];
                const Coord low = low_[other];
                if (low == kPlaced) continue;
                if constexpr (Plain) {
                    const Coord end = low + m_.size[other];
                    if (end <= x) {
                        if (end < below_end || (end == below_end && order_[other] < order_[below])) below = other, below_end = end;
                    } else if (low < x + m_.size[block]) {
                        raise = std::min(raise, end);
                    }
                } else {
                    const Coord end = low - m_.distance[e].low;
                    if (open_distance(e, low - x) < m_.distance[e].high) {
                        if (below == kNone || end < below_end || (end == below_end && order_[other] < order_[below])) {
                            below = other, below_end = end;
                        }
                    }
                    raise = std::min(raise, pushed_by(e, low, x));
                }
            }
            if (below == kNone || steps >= n_) {
                raise_to_ = raise;
                return block;
            }
            block = below;
        }
    }

    // Where the block, if it cannot be at x because of this neighbour, lies at least; kPlaced if the neighbour cannot be the reason.
    Coord pushed_by(int edge, Coord low, Coord x) const {
        const int row = m_.split[edge], other = m_.neighbours.values[edge];
        Coord least = kPlaced;
        const auto consider = [&](Gap gap) {
            // The neighbour hits x from positions strictly between x + gap.low and x + gap.high.
            const Coord from = align_up(other, std::max(low, x + gap.low + 1));
            if (from < x + gap.high) least = std::min(least, from - gap.low);
        };
        if (row == kNone) {
            consider(m_.distance[edge]);
        } else {
            for (int i = m_.pieces.begin(row); i < m_.pieces.end(row); ++i) consider(m_.pieces.values[i]);
        }
        return least;
    }

    // Small is urgent: few candidates, little slack, many failures. Candidates and slack are capped so that products stay below 2^64.
    std::uint64_t score_of(int c) const {
        const State& state = state_[c];
        const auto slack = static_cast<std::uint64_t>((state.reach - state.floor) / scale_);
        const auto candidates = static_cast<std::uint64_t>(std::min(state.candidates, 2048));
        const Rule& rule = kRule[rule_];
        return ((candidates * candidates * (rule.slack + slack)) << 24) / (rule.weight + weight_[c]) * noise_[c] >> 6;
    }

    // After a placement that opened a cut in time: both sides go on their own, the tightest first.
    void divide() {
        if (!cut_ || !m_.separable) return;
        cut_ = false;
        const Part whole = parts_[part_];
        std::vector<Side>& sides = sides_;
        sides.clear();
        Side side{whole.from, whole.from, kPlaced};
        for (int c = whole.from; c < whole.to; ++c) {
            if (count_[c] > 0) side.slack = std::min(side.slack, state_[c].reach - state_[c].floor);
            if (c + 1 == whole.to || crossing_[c] == 0) {
                side.to = c + 1;
                if (side.slack != kPlaced) sides.push_back(side);
                side = {c + 1, c + 1, kPlaced};
            }
        }
        work_ += whole.to - whole.from;
        if (sides.size() < 2) return;
        std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
            return std::pair(a.slack, a.from) > std::pair(b.slack, b.from);
        });
        const int parent = part_;
        for (const Side& s : sides) {
            parts_.push_back({s.from, s.to, parent, agenda_, static_cast<int>(frames_.size()), 0});
            agenda_ = static_cast<int>(parts_.size()) - 1;
        }
        part_ = agenda_;
        agenda_ = parts_[part_].next;
        parts_[part_].start = static_cast<int>(frames_.size());
    }

    // Everything as at the root of the search for this height; false if that is impossible at once.
    bool start(Coord height, const Style& style) {
        order_ = rank_[style.order % kOrders].data();
        rule_ = style.rule % kRules;
        Random random(style.seed);
        for (int c = 0; c < cliques_; ++c) noise_[c] = static_cast<std::uint32_t>(64 + random.next() % 32);
        // Old failures fade, or some restarts would run in the same rut for ever.
        for (auto& weight : weight_) weight -= weight / 5;
        frames_.clear();
        low_trail_.clear();
        state_trail_.clear();
        place_trail_.clear();
        hang_trail_.clear();
        std::fill(hanging_.begin(), hanging_.end(), 0);
        clear_queue();
        cut_ = false;
        ++epoch_;
        if (!m_.contradiction.empty() || m_.fixed_peak > height) return false;
        for (int j = 0; j < n_; ++j) {
            const Coord top = floor_div(height - m_.height[j] - m_.origin, m_.unit);
            high_[j] = align_down(j, std::min(m_.highest[j], top));
            low_[j] = feasible(j, m_.lowest[j]);
            if (low_[j] > high_[j]) return false;
        }
        std::copy(m_.clique.values.begin(), m_.clique.values.end(), member_.begin());
        std::iota(member_entry_.begin(), member_entry_.end(), 0);
        std::iota(slot_.begin(), slot_.end(), 0);
        std::fill(crossing_.begin(), crossing_.end(), 0);
        for (int j = 0; j < n_; ++j) {
            for (int c = m_.first_clique[j]; c < m_.last_clique[j]; ++c) ++crossing_[c];
        }
        scale_ = 1;
        for (int c = 0; c < cliques_; ++c) {
            count_[c] = m_.clique.end(c) - m_.clique.begin(c);
            sum_[c] = 0;
            ceiling_[c] = 0;
            Coord least = kPlaced;
            for (int e = m_.clique.begin(c); e < m_.clique.end(c); ++e) {
                const int j = m_.clique.values[e];
                sum_[c] += entry_height(e, j);
                ceiling_[c] = std::max(ceiling_[c], high_[j] + entry_top(e, j));
                least = std::min(least, high_[j] + entry_top(e, j));
            }
            uneven_[c] = least < ceiling_[c];
            scale_ = std::max(scale_, ceiling_[c] / 1024);
            state_[c] = {0, kPlaced, 0};
            enqueue(c);
        }
        parts_.assign(1, {0, cliques_, kNone, kNone, 0, 0});
        part_ = 0;
        agenda_ = kNone;
        if (!settle()) return false;
        // Blocks in no clique conflict with nothing that moves.
        for (int j = 0; j < n_; ++j) {
            if (m_.entries.begin(j) == m_.entries.end(j)) offset_[j] = low_[j];
        }
        return true;
    }

    struct Side {
        int from, to;
        Coord slack;
    };
    std::vector<Side> sides_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Model& model) {
    if (model.plain) return std::make_unique<Decision<true>>(model);
    return std::make_unique<Decision<false>>(model);
}

}  // namespace memplan
