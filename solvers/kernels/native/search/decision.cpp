// The decision search, over any state that can place, raise, propagate and undo: which block comes next, and what follows a failure.
#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "search/engine.hpp"
#include "search/states/general.hpp"
#include "search/states/plain.hpp"
#include "search/tie_orders.hpp"
#include "search/refuted.hpp"

namespace memplan {

namespace {

template <typename State>
class Decision final : public Engine {
  public:
    explicit Decision(const Model& model)
        : m_(model), n_(model.blocks()), cliques_(model.cliques()), state_(model, weight_), orders_(model), noise_(cliques_), urgency_(cliques_), most_urgent_(cliques_ / State::kChunk + 1), stale_(cliques_ / State::kChunk + 1) {
        offset_.resize(n_);
        weight_.assign(cliques_, 0);
        find_twins();
    }

    Answer decide(Coord height, const Style& style, Watch& watch) override {
        const std::int64_t before = state_.work();
        weights_before_.push_back(weight_);
        refuted_.begin();
        const Answer answer = search(height, style, watch);
        work_ += state_.work() - before;
        if (answer == Answer::kFound) {
            for (int j = 0; j < n_; ++j) offset_[j] = state_.offset(j);
        }
        return answer;
    }

    void forget() override {
        weight_ = std::move(weights_before_.back());
        weights_before_.pop_back();
        refuted_.forget();
    }

    void keep() override {
        weights_before_.pop_front();
        refuted_.keep();
    }

  private:
    static constexpr std::int64_t kLookEvery = 100'000;  // about a fifth of a millisecond: others wait for it once they have settled the round
    static constexpr Coord kPlaced = std::numeric_limits<Coord>::max();

    struct Frame {
        int block;
        Coord raise_to;
        int part, agenda, parts;
        typename State::Mark mark;
        std::optional<Refuted::Key> placed{};  // the state after the placement
    };
    // A range of cliques that no unplaced block leaves: it is solved on its own.
    struct Part {
        int from, to;
        int parent, next;
        int height;  // number of frames when the part was cut off
        int start;   // number of frames when the search began on the part
    };
    struct Side {
        int from, to;
        Coord slack;
    };
    struct Choice {
        int clique = kNone;
        std::uint64_t score = std::numeric_limits<std::uint64_t>::max();
        void take(const Choice& other) {
            if (other.score < score) *this = other;
        }
    };
    // Damping of slack and failures.
    static constexpr std::uint64_t kSlackDamp = 8, kFailureDamp = 64;

    Answer search(Coord height, const Style& style, Watch& watch) {
        const std::int64_t begun = state_.work();
        if (!start(height, style)) return Answer::kImpossible;
        const std::int64_t last = nodes_ + style.nodes, first = state_.work() - begun;
        std::int64_t next_look = state_.work() + kLookEvery;
        divide();
        for (;;) {
            if (state_.work() >= next_look) {
                next_look = state_.work() + kLookEvery;
                if (watch.stopped()) return Answer::kStopped;
            }
            const int clique = choose_clique();
            if (clique == kNone) {
                if (agenda_ == kNone) return Answer::kFound;
                turn_to_next_part();
                continue;
            }
            int block = state_.lowest(clique, order_);
            Coord raise_to = kPlaced;
            const bool open = state_.descend(block, order_, raise_to);
            if (open) {
                if (watch.spent(state_.work() - begun, first) || nodes_ >= last) return Answer::kBudget;
                ++nodes_;
                frames_.push_back({block, raise_to, part_, agenda_, static_cast<int>(parts_.size()), state_.mark()});
            }
            if (state_.place(block) && state_.settle() && !(open && refuted(frames_.back().placed))) {
                if (clique == failed_) failed_ = kNone;
                divide();
            } else if (!backtrack()) {
                return Answer::kImpossible;
            }
        }
    }

    void undo(const Frame& frame) {
        state_.undo(frame.mark);
        part_ = frame.part;
        agenda_ = frame.agenda;
        parts_.resize(frame.parts);
    }

    // Undoes the last open choice of the current part and takes its alternative, until that is consistent.
    bool backtrack() {
        for (;;) {
            learn();
            while (static_cast<int>(frames_.size()) == parts_[part_].start) {
                // This part is impossible, whatever was chosen in its siblings.
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
            if (frame.placed) refuted_.insert(*frame.placed);
            std::optional<Refuted::Key> raised;
            if (raise_twins(frame.block, frame.raise_to) && state_.settle() && !refuted(raised)) return true;
        }
    }

    // True if the current state is known to be impossible. Sets its key.
    bool refuted(std::optional<Refuted::Key>& key) {
        if (!State::kSelfContained || n_ > Refuted::kMostBlocks) return false;
        key.emplace();
        Refuted::add(*key, -1, height_);
        for (int j = 0; j < n_; ++j) {
            if (!state_.placed(j)) Refuted::add(*key, j, state_.low(j));
        }
        state_.look_at(4 * n_);
        return refuted_.contains(*key);
    }

    // Raises all interchangeable blocks at the same low: if one cannot lie there, none can.
    bool raise_twins(int block, Coord x) {
        const Coord before = state_.low(block);
        for (int t = twin_first_[block]; t < twin_last_[block]; ++t) {
            const int other = twins_of_[t].second;
            if (state_.low(other) == before && !state_.placed(other) && !state_.raise(other, x)) return false;
        }
        return true;
    }

    // The most urgent clique of the current part, or kNone. The clique that failed last goes first until a block is placed in it, since the cause is
    // likely near; otherwise few candidates, little slack and many failures make a clique urgent.
    int choose_clique() {
        constexpr int kChunk = State::kChunk;
        const Part& part = parts_[part_];
        if (failed_ >= part.from && failed_ < part.to && state_.count(failed_) > 0) return failed_;
        Choice best;
        const int last = (part.to - 1) / kChunk;
        for (int k = part.from / kChunk; k <= last; ++k) {
            if (k * kChunk < part.from || (k + 1) * kChunk > part.to) {
                best.take(choose_among(std::max(part.from, k * kChunk), std::min(part.to, (k + 1) * kChunk)));
                continue;
            }
            if (state_.take_changed(k) || stale_[k]) {
                most_urgent_[k] = choose_among(k * kChunk, (k + 1) * kChunk);
                stale_[k] = 0;
            }
            best.take(most_urgent_[k]);
        }
        state_.look_at((part.to - part.from) / kChunk);
        return best.clique;
    }

    Choice choose_among(int from, int to) {
        Choice best;
        for (int c = from; c < to; ++c) {
            if (state_.count(c) == 0) continue;
            // Capped so that the product stays below 2^64.
            const auto candidates = static_cast<std::uint64_t>(std::min(state_.candidates(c), 1024));
            const auto slack = static_cast<std::uint64_t>(state_.slack(c) >> scale_);
            best.take({c, candidates * candidates * (kSlackDamp + slack) * urgency_[c]});
        }
        state_.look_at(to - from);
        return best;
    }

    void rate(int c) {
        urgency_[c] = (noise_[c] << 24) / (kFailureDamp + weight_[c]);
        stale_[c / State::kChunk] = 1;
    }

    void learn() {
        for (const int c : state_.bumped()) {
            rate(c);
            failed_ = c;
        }
        state_.clear_bumped();
    }

    // Splits the search where the last placement opened a cut in time; the tightest part comes first.
    void divide() {
        if (!state_.take_cut() || !m_.separable) return;
        const Part whole = parts_[part_];
        sides_.clear();
        Side side{whole.from, whole.from, kPlaced};
        for (int c = whole.from; c < whole.to; ++c) {
            if (state_.count(c) > 0) side.slack = std::min<Coord>(side.slack, state_.slack(c));
            if (c + 1 == whole.to || !state_.crossed(c)) {
                side.to = c + 1;
                if (side.slack != kPlaced) sides_.push_back(side);
                side = {c + 1, c + 1, kPlaced};
            }
        }
        state_.look_at(whole.to - whole.from);
        if (sides_.size() < 2) return;
        std::sort(sides_.begin(), sides_.end(), [](const Side& a, const Side& b) {
            return std::pair(a.slack, a.from) > std::pair(b.slack, b.from);
        });
        const int parent = part_;
        for (const Side& s : sides_) {
            parts_.push_back({s.from, s.to, parent, agenda_, static_cast<int>(frames_.size()), 0});
            agenda_ = static_cast<int>(parts_.size()) - 1;
        }
        turn_to_next_part();
    }

    void turn_to_next_part() {
        part_ = agenda_;
        agenda_ = parts_[part_].next;
        parts_[part_].start = static_cast<int>(frames_.size());
    }

    bool start(Coord height, const Style& style) {
        height_ = height;
        order_ = orders_.ranks(style.order % TieOrders::kOrders, style.seed ^ 0x5bd1e995);
        frames_.clear();
        parts_.assign(1, {0, cliques_, kNone, kNone, 0, 0});
        part_ = 0;
        agenda_ = kNone;
        failed_ = kNone;
        // Old failures fade, so that restarts do not repeat each other.
        for (auto& weight : weight_) weight -= weight / 20;
        if (!m_.contradiction.empty() || m_.fixed_peak > height || !state_.start(height)) {
            state_.clear_bumped();
            return false;
        }
        state_.clear_bumped();
        Random random(style.seed);
        Coord tallest = 1;
        for (int c = 0; c < cliques_; ++c) {
            noise_[c] = 64 + random.next() % 32;
            rate(c);
            tallest = std::max<Coord>(tallest, state_.ceiling(c));
        }
        for (scale_ = 0; tallest >> scale_ > 2047; ++scale_) {
        }
        return true;
    }

    void find_twins() {
        for (int j = 0; j < n_; ++j) twins_of_.push_back({m_.twin[j], j});
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

    const Model& m_;
    const int n_, cliques_;
    State state_;
    TieOrders orders_;
    std::vector<std::uint64_t> noise_, urgency_;
    std::vector<Choice> most_urgent_;  // by chunk of cliques, valid unless stale
    std::vector<char> stale_;
    Refuted refuted_;
    std::deque<std::vector<std::uint32_t>> weights_before_;  // for each attempt that can be forgotten
    Coord height_ = 0;
    const int* order_ = nullptr;
    int scale_ = 0;
    int failed_ = kNone;  // the clique that failed last, until a block is placed in it
    std::vector<std::pair<int, int>> twins_of_;
    std::vector<int> twin_first_, twin_last_;
    std::vector<Frame> frames_;
    std::vector<Part> parts_;
    std::vector<Side> sides_;
    int part_ = 0, agenda_ = kNone;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Model& model) {
    if (!model.plain) return std::make_unique<Decision<GeneralState>>(model);
    // 32-bit addresses, if sums of two fit.
    if (model.ceiling < Coord{1} << 29) return std::make_unique<Decision<PlainState<std::int32_t>>>(model);
    return std::make_unique<Decision<PlainState<Coord>>>(model);
}

}  // namespace memplan
