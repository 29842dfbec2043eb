#include "search/descent.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "search/engine.hpp"
#include "search/building/glue.hpp"

namespace memplan {

namespace {

// Strategies run in rounds. The answer of a round is that of the lowest-numbered strategy that has one, whoever came first, so that the
// number of threads changes nothing but the time.
constexpr int kStrategies = 4;
constexpr int kNobody = kStrategies;
constexpr int kGlued = 2;
constexpr int kManyBlocks = 2000;  // where an attempt takes so long that no more than two go before another height

struct Strategy {
    std::unique_ptr<Engine> engine;
    const Glued* glued = nullptr;  // what it searches instead of the model itself: then it finds, but proves nothing
    Answer answer = Answer::kBudget;
    bool ran = false;
    std::int64_t nodes = 0, work = 0;
};

class Descent {
  public:
    Descent(const Model& model, const DescentOptions& options, const Report& report)
        : model_(model), options_(options), report_(report), strategies_(model.blocks() > kManyBlocks ? 2 : kStrategies) {
        result_.bound = std::max(options.bound, model.fixed_peak);
    }

    DescentResult run() {
        if (!model_.contradiction.empty()) return finish(End::kImpossible);
        ceiling_ = options_.incumbent;
        // Whatever fits at all ends by here.
        Coord top = model_.fixed_peak;
        for (int j = 0; j < model_.blocks(); ++j) {
            top = std::max(top, model_.origin + model_.unit * model_.highest[j] + model_.height[j]);
            if (model_.lowest[j] > model_.highest[j]) return finish(End::kImpossible);
            result_.bound = std::max(result_.bound, model_.origin + model_.unit * model_.lowest[j] + model_.height[j]);
        }
        if (ceiling_ && *ceiling_ <= result_.bound) return finish(End::kProved);
        glue_some();
        for (int level = 0;; ++level) {
            const int rounds = 1 << std::min(level, 20);
            if (!ceiling_ && !options_.fit && level == 0) {
                if (const auto end = ask(std::min(result_.bound, top), 1)) return finish(*end);
            }
            if (!ceiling_ || options_.fit) {
                const auto end = ask(top, rounds);
                if (end) return finish(*end);
                if (result_.bound > top) return finish(End::kImpossible);
                if (!ceiling_ || options_.fit) continue;
            }
            // The bound itself first: a placement there is the optimum and its proof in one.
            if (const auto end = ask(result_.bound, 2 * rounds)) return finish(*end);
            Coord low = result_.bound;
            while (next_height(low) < *ceiling_) {
                const Coord middle = low + (*ceiling_ - low) / 2;
                if (const auto end = ask(middle, rounds)) return finish(*end);
                if (*ceiling_ > middle) low = std::max(middle, result_.bound);
            }
        }
    }

  private:
    // Half of the strategies look for placements in which what belongs together stays together; the others for all.
    void glue_some() {
        if (model_.blocks() > kManyBlocks) return;
        for (int s = 0; s < kGlued; ++s) {
            glued_[s] = glue(model_, s == 0);
            if (glued_[s]) strategies_[s].glued = &*glued_[s];
        }
    }

    // Asks for a placement of this height, for a number of rounds. An End, if the whole descent is over.
    std::optional<End> ask(Coord height, int rounds) {
        for (int i = 0; i < rounds; ++i) {
            if (result_.work >= options_.work) return End::kWork;
            const int winner = play(height);
            if (stop_) return End::kStopped;
            if (winner == kNobody) continue;
            if (strategies_[winner].answer == Answer::kImpossible) {
                result_.bound = next_height(height);
                if (ceiling_ && *ceiling_ <= result_.bound) {
                    result_.bound = *ceiling_;
                    return End::kProved;
                }
            } else {
                take(strategies_[winner]);
                if (*ceiling_ <= result_.bound) return End::kProved;
                if (options_.fit) return End::kFits;
            }
            if (report_(result_, true)) return End::kStopped;
            return std::nullopt;
        }
        return std::nullopt;
    }

    // One round: the strategy that settled it, or kNobody.
    int play(Coord height) {
        const int round = round_++;
        std::atomic<int> next{0}, winner{kNobody};
        for (Strategy& strategy : strategies_) strategy.ran = false;
        std::mutex mutex;  // guards the next two
        std::size_t ended = 0;
        std::exception_ptr broken;
        std::condition_variable idle;

        class Look final : public Watch {
          public:
            Look(Descent* owner, std::atomic<int>& winner, int self) : owner_(owner), winner_(winner), self_(self) {}
            bool stopped() override {
                if (std::this_thread::get_id() == owner_->thread_) owner_->tick();
                return owner_->stop_ || winner_.load(std::memory_order_relaxed) < self_;
            }

          private:
            Descent* owner_;
            std::atomic<int>& winner_;
            int self_;
        };

        // The last strategy takes longest, so where threads share the work it begins: the order says when, not whose answer counts.
        const int first = options_.threads > 1 ? width() - 1 : 0;
        const auto work = [&] {
            for (;;) {
                const int turn = next.fetch_add(1);
                if (turn >= width() || stop_) return;
                const int self = (first + turn) % width();
                if (winner.load() < self) continue;
                Strategy& strategy = strategies_[self];
                if (!strategy.engine) strategy.engine = make_engine(strategy.glued ? strategy.glued->model : model_);
                Engine& engine = *strategy.engine;
                const auto nodes = engine.nodes(), spent = engine.work();
                strategy.ran = true;
                Look look(this, winner, self);
                strategy.answer = engine.decide(height, style(self, round), look);
                if (strategy.glued && strategy.answer == Answer::kImpossible) strategy.answer = Answer::kBudget;
                strategy.nodes = engine.nodes() - nodes;
                strategy.work = engine.work() - spent;
                if (strategy.answer == Answer::kFound || strategy.answer == Answer::kImpossible) {
                    int old = winner.load();
                    while (self < old && !winner.compare_exchange_weak(old, self)) {
                    }
                }
            }
        };

        // What one thread cannot bear, no memory above all, ends the round of all of them.
        const auto work_or_break = [&] {
            try {
                work();
            } catch (...) {
                const std::lock_guard lock(mutex);
                broken = std::current_exception();
                stop_ = true;
            }
        };

        const auto wanted = static_cast<std::size_t>(std::clamp(options_.threads, 1, width()) - 1);
        std::vector<std::thread> helpers;
        helpers.reserve(wanted);
        try {
            while (helpers.size() < wanted) {
                helpers.emplace_back([&] {
                    work_or_break();
                    const std::lock_guard lock(mutex);
                    ++ended;
                    idle.notify_one();
                });
            }
        } catch (const std::exception&) {  // No more threads are to be had: then those that there are do it all.
        }
        work_or_break();
        while (!helpers.empty()) {
            std::unique_lock lock(mutex);
            if (idle.wait_for(lock, std::chrono::milliseconds(5), [&] { return ended == helpers.size(); })) break;
            lock.unlock();
            tick();
        }
        for (auto& helper : helpers) helper.join();
        if (broken) std::rethrow_exception(broken);
        const int settled = winner.load();
        for (int s = 0; s < width(); ++s) {
            if (s <= settled) {
                result_.nodes += strategies_[s].nodes;
                result_.work += strategies_[s].work;
            } else if (strategies_[s].ran) {
                // With fewer threads it would not have run: what it learnt must not matter.
                strategies_[s].engine->forget();
            }
        }
        return settled;
    }

    Style style(int self, int round) const {
        Style style;
        style.seed = Random(Random(options_.seed).next() + static_cast<std::uint64_t>(round) * kStrategies + static_cast<std::uint64_t>(self)).next();
        // Lifetime first is best on most of the hardest instances and useless on some; which, cannot be told in advance.
        style.order = self % 2 == 0 ? 0 : (self / 2 + round) % 3;
        // Short attempts find; the last strategy also makes long ones, which can prove.
        const int length = self == width() - 1 ? luby(round + 1) : 1;
        style.nodes = length * (1000 + std::min(round * 10, 300) + model_.blocks());
        // What is left. Where attempts are long, only a part of it, but then at least half of that part of all: one that is cut short is of no use.
        style.work = std::max<std::int64_t>(options_.work - result_.work, 0);
        if (width() < kStrategies) style.work = std::max(style.work, options_.work / 2) / width();
        return style;
    }

    // 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...
    static int luby(int i) {
        for (;;) {
            int power = 1;
            while (2 * power <= i + 1) power *= 2;
            if (power == i + 1) return power / 2;
            i -= power - 1;
        }
    }

    void take(const Strategy& strategy) {
        const std::vector<Coord>& found = strategy.engine->offsets();
        const std::vector<Coord> offsets = strategy.glued ? strategy.glued->expand(found) : found;
        result_.offsets.assign(offsets_needed(), 0);
        Coord peak = model_.fixed_peak;
        for (int j = 0; j < model_.blocks(); ++j) {
            const Coord base = model_.origin + model_.unit * offsets[j];
            result_.offsets[model_.original[j]] = base;
            peak = std::max(peak, base + model_.height[j]);
        }
        for (const auto& [block, offset] : model_.fixed) result_.offsets[block] = offset;
        result_.peak = peak;
        ceiling_ = peak;
    }

    int width() const { return static_cast<int>(strategies_.size()); }
    std::size_t offsets_needed() const { return model_.original.size() + model_.fixed.size(); }

    // The least height above this one at which some block could end.
    Coord next_height(Coord height) const {
        Coord next = std::numeric_limits<Coord>::max();
        for (int j = 0; j < model_.blocks(); ++j) {
            const Coord over = model_.origin + model_.height[j];
            next = std::min(next, over + model_.unit * (floor_div(height - over, model_.unit) + 1));
        }
        if (model_.fixed_peak > height) next = std::min(next, model_.fixed_peak);
        return next;
    }

    void tick() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_tick_ < std::chrono::milliseconds(4)) return;
        last_tick_ = now;
        if (report_(result_, false)) stop_ = true;
    }

    DescentResult finish(End end) {
        result_.end = end;
        return result_;
    }

    const Model& model_;
    const DescentOptions& options_;
    const Report& report_;
    std::optional<Glued> glued_[kGlued];  // for the first strategies
    std::vector<Strategy> strategies_;
    DescentResult result_;
    std::optional<Coord> ceiling_;
    int round_ = 0;
    std::atomic<bool> stop_{false};
    std::thread::id thread_ = std::this_thread::get_id();
    std::chrono::steady_clock::time_point last_tick_ = std::chrono::steady_clock::now();
};

}  // namespace

DescentResult descend(const Model& model, const DescentOptions& options, const Report& report) {
    return Descent(model, options, report).run();
}

}  // namespace memplan
