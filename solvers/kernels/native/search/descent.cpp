#include "search/descent.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "search/heights.hpp"
#include "search/strategies.hpp"

namespace memplan {

namespace {

// Strategies run in rounds. The lowest-numbered strategy with an answer decides the round, whichever came first, so the number of threads changes
// nothing but the time. A strategy's attempt depends only on its own earlier attempts, the round's height and the work left. So threads do not wait
// at the end of a round: they go on as if it were not settled. Attempts after a settled round are undone, and one that did more work than was left is
// cut where that ended.
class Descent {
  public:
    Descent(const Model& model, const DescentOptions& options, const Report& report)
        : model_(model), options_(options), report_(report), strategies_(model, options.seed, options.work) {
        result_.bound = std::max(options.bound, model.fixed_peak);
        rounds_ahead_ = std::clamp(kMostRemembered / std::max(model.cliques(), 1), 1, kMostRoundsAhead);
    }

    DescentResult run() {
        if (!model_.contradiction.empty()) return finished(End::kImpossible);
        ceiling_ = options_.incumbent;
        // Every placement ends at or below this.
        Coord top = model_.fixed_peak;
        for (int j = 0; j < model_.blocks(); ++j) {
            top = std::max(top, model_.origin + model_.unit * model_.highest[j] + model_.height[j]);
            if (model_.lowest[j] > model_.highest[j]) return finished(End::kImpossible);
            result_.bound = std::max(result_.bound, model_.origin + model_.unit * model_.lowest[j] + model_.height[j]);
        }
        if (ceiling_ && *ceiling_ <= result_.bound) return finished(End::kProved);
        heights_.emplace(model_, top, options_.fit, result_.bound, ceiling_);
        ahead_.assign(1, heights_->height());
        future_ = heights_;
        if (begin_round()) search();
        result_.attempts = std::move(attempts_);
        return result_;
    }

  private:
    static constexpr int kMostRoundsAhead = 64;
    static constexpr int kMostRemembered = 1 << 22;  // weights of cliques, for each strategy
    static constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();

    // An attempt's place in the order of a single thread.
    std::int64_t place(int round, int s) const { return std::int64_t{round} * strategies_.width() + s; }

    class Look final : public Watch {
      public:
        Look(Descent& owner, Attempt& attempt, std::int64_t place, bool reports)
            : owner_(owner), attempt_(attempt), place_(place), allowed_(owner.most_work(place)), reports_(reports) {}
        bool stopped() override {
            if (reports_) owner_.tick();
            if (owner_.over_.load(std::memory_order_relaxed) || owner_.last_.load(std::memory_order_relaxed) < place_) return true;
            const std::lock_guard lock(owner_.mutex_);
            if (!attempt_.work_before.empty()) attempt_.work = attempt_.work_before.back();
            allowed_ = owner_.most_work(place_);
            owner_.call_helpers();
            return false;
        }
        bool spent(std::int64_t work, std::int64_t first) override {
            attempt_.first = first;
            attempt_.work_before.push_back(work);
            return work - first >= allowed_;
        }

      private:
        Descent& owner_;
        Attempt& attempt_;
        std::int64_t place_, allowed_;
        bool reports_;
    };

    void search() {
        // An error that ends one thread, such as lack of memory, ends the work of all.
        const auto work_or_break = [&](int number) {
            try {
                work(number);
            } catch (...) {
                const std::lock_guard lock(mutex_);
                if (!broken_) broken_ = std::current_exception();
                over_ = true;
                changed_.notify_all();
            }
        };
        const auto wanted = static_cast<std::size_t>(std::clamp(options_.threads, 1, strategies_.width()) - 1);
        std::vector<std::thread> helpers;
        helpers.reserve(wanted);
        try {
            while (helpers.size() < wanted) {
                const int number = threads_++;
                helpers.emplace_back([&, number] { work_or_break(number); });
            }
        } catch (const std::exception&) {  // If no more threads are available, the existing ones do all the work.
            --threads_;
        }
        work_or_break(0);
        for (auto& helper : helpers) helper.join();
        if (broken_) std::rethrow_exception(broken_);
        if (result_.end != End::kStopped) {
            for (const DescentResult& known : news_) report_(known, true);
        }
    }

    // The number of threads that may work now.
    int active_threads() const {
        const int threads = threads_;
        if (!options_.active_threads) return threads;
        const auto wanted = *const_cast<const volatile std::int64_t*>(options_.active_threads);
        return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, threads));
    }

    // Wakes threads that may work from now on, which they would notice only later.
    void call_helpers() {
        const int active = active_threads();
        if (active > std::exchange(called_, active)) changed_.notify_all();
    }

    // One thread's work. The calling thread is number 0, and reports.
    void work(int number) {
        const bool reports = number == 0;
        std::unique_lock lock(mutex_);
        while (!over_) {
            const int self = number < active_threads() ? choose() : -1;
            if (self < 0) {
                changed_.wait_for(lock, std::chrono::milliseconds(5));
                if (!reports) continue;
                lock.unlock();
                tick();
                lock.lock();
                continue;
            }
            const int round = next_round(self);
            Strategy& strategy = strategies_[self];
            Look look(*this, strategy.attempts.emplace_back(), place(round, self), reports);
            Attempt& attempt = strategy.attempts.back();
            const Coord height = height_of(round);
            const int kept = std::exchange(strategy.kept, 0);
            lock.unlock();

            Engine& engine = strategies_.engine(self);
            for (int i = 0; i < kept; ++i) engine.keep();
            const auto nodes = engine.nodes(), spent = engine.work();
            Answer answer = engine.decide(height, strategies_.style(self, round), look);
            if (strategy.glued && answer == Answer::kImpossible) answer = Answer::kBudget;

            lock.lock();
            attempt.answer = answer;
            attempt.nodes = engine.nodes() - nodes;
            attempt.work = engine.work() - spent;
            attempt.ended = true;
            if (attempt.settles()) last_ = std::min(last_.load(), place(round, self));
            advance();
            changed_.notify_all();
            if (reports && has_news_) {
                lock.unlock();
                tick();
                lock.lock();
            }
        }
    }

    // The strategy whose attempt comes next, or -1. The last one of a round takes longest, so with three threads and more it begins first. With two it would
    // often be lost, to an attempt that settles the round; and the other thread goes on with the next round.
    int choose() {
        const bool in_order = active_threads() <= 2;
        int best = -1;
        std::int64_t earliest = kNowhere;
        for (int s = 0; s < strategies_.width(); ++s) {
            if (strategies_[s].busy()) continue;
            const int round = next_round(s);
            if (round > round_ + rounds_ahead_ || place(round, s) > last_) continue;
            if (round > round_ && most_work(place(round, s)) == 0) continue;  // such a round will not begin
            const std::int64_t rank = place(round, s == strategies_.width() - 1 && !in_order ? -1 : s);
            if (rank < earliest) {
                earliest = rank;
                best = s;
            }
        }
        return best;
    }

    // The round of the strategy's next attempt.
    int next_round(int s) { return round_ + (s < cursor_ ? 1 : 0) + static_cast<int>(strategies_[s].attempts.size()); }

    // The most work that the attempt at this place may do: those before it may still do more.
    std::int64_t most_work(std::int64_t here) {
        std::int64_t done = result_.work;
        for (int s = 0; s < strategies_.width(); ++s) {
            std::int64_t at = place(round_ + (s < cursor_ ? 1 : 0), s);
            for (const Attempt& attempt : strategies_[s].attempts) {
                if (at >= here) break;
                done += attempt.work;
                at += strategies_.width();
            }
        }
        return strategies_.allowance(done);
    }

    Coord height_of(int round) {
        while (static_cast<int>(ahead_.size()) <= round - round_) {
            future_->pass();
            ahead_.push_back(future_->height());
        }
        return ahead_[static_cast<std::size_t>(round - round_)];
    }

    // Records finished attempts in the order of a single thread, as far as they are known.
    void advance() {
        while (!over_) {
            Strategy& strategy = strategies_[cursor_];
            if (strategy.attempts.empty() || !strategy.attempts.front().ended) return;
            if (strategy.attempts.front().settles() && !undo_after(place(round_, cursor_))) return;
            Attempt attempt = std::move(strategy.attempts.front());
            attempt.cut(strategies_.allowance(result_.work));
            result_.nodes += attempt.nodes;
            result_.work += attempt.work;
            if (options_.log) attempts_.push_back({cursor_, attempt.settles(), attempt.work});
            strategy.attempts.pop_front();
            ++strategy.kept;
            if (attempt.settles()) {
                if (!settle(attempt.answer, strategy)) return;
                end_round();
                heights_->settle(result_.bound, ceiling_);
                future_ = heights_;
                ahead_.assign(1, heights_->height());
                if (!begin_round()) return;
            } else if (++cursor_ == strategies_.width()) {
                end_round();
                heights_->pass();
                ahead_.pop_front();
                if (ahead_.empty()) {
                    future_ = heights_;
                    ahead_.push_back(heights_->height());
                }
                if (!begin_round()) return;
            }
        }
    }

    void end_round() {
        ++round_;
        cursor_ = 0;
    }

    bool begin_round() {
        if (heights_->hopeless()) return end(End::kImpossible);
        if (result_.work >= options_.work) return end(End::kWork);
        return true;
    }

    // Undoes all attempts after this place. False as long as one of them is running.
    bool undo_after(std::int64_t here) {
        last_ = std::min(last_.load(), here);
        for (int s = 0; s < strategies_.width(); ++s) {
            if (strategies_[s].busy()) return false;  // attempts before this place have ended, since it is the first that is not recorded
        }
        for (int s = 0; s < strategies_.width(); ++s) {
            Strategy& strategy = strategies_[s];
            while (!strategy.attempts.empty() && place(next_round(s) - 1, s) > here) {
                strategy.attempts.pop_back();
                strategy.engine->forget();
            }
        }
        last_ = kNowhere;
        return true;
    }

    // Applies a round's answer; false if it ends the descent.
    bool settle(Answer answer, Strategy& strategy) {
        if (answer == Answer::kImpossible) {
            result_.bound = next_height(model_, heights_->height());
            if (ceiling_ && *ceiling_ <= result_.bound) {
                result_.bound = *ceiling_;
                return end(End::kProved);
            }
        } else {
            take(strategy);
            if (*ceiling_ <= result_.bound) return end(End::kProved);
            if (options_.fit) return end(End::kFits);
        }
        news_.push_back(result_);
        has_news_ = true;
        return true;
    }

    void take(const Strategy& strategy) {
        const std::vector<Coord>& found = strategy.engine->offsets();
        const std::vector<Coord> offsets = strategy.glued ? strategy.glued->expand(found) : found;
        result_.offsets.assign(model_.original.size() + model_.fixed.size(), 0);
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

    // Called on the calling thread.
    void tick() {
        const auto now = std::chrono::steady_clock::now();
        if (!has_news_ && now - last_tick_ < std::chrono::milliseconds(4)) return;
        last_tick_ = now;
        const std::lock_guard lock(mutex_);
        if (over_) return;
        bool stop = false;
        if (news_.empty()) stop = report_(result_, false);
        for (; !stop && !news_.empty(); news_.pop_front()) stop = report_(news_.front(), true);
        has_news_ = !news_.empty();
        if (stop) end(End::kStopped);
    }

    bool end(End how) {
        result_.end = how;
        over_ = true;
        changed_.notify_all();
        return false;
    }

    DescentResult finished(End how) {
        end(how);
        return result_;
    }

    const Model& model_;
    const DescentOptions& options_;
    const Report& report_;
    std::chrono::steady_clock::time_point last_tick_ = std::chrono::steady_clock::now();  // of the calling thread
    int rounds_ahead_;

    std::mutex mutex_;  // guards the following fields, except engines: each belongs to its attempt
    std::condition_variable changed_;
    Strategies strategies_;
    DescentResult result_;
    std::optional<Coord> ceiling_;
    std::optional<Heights> heights_, future_;  // of the current round, and of the last round ahead
    std::deque<Coord> ahead_;                  // heights from the current round on
    int round_ = 0, cursor_ = 0;               // the first attempt that is not recorded
    std::vector<Tried> attempts_;
    std::deque<DescentResult> news_;           // not reported yet
    std::exception_ptr broken_;
    int called_ = 1;                           // the number of threads that might work at the last look
    // These are also read without the mutex.
    std::atomic<std::int64_t> last_{kNowhere};  // no attempt after this place matters
    std::atomic<bool> over_{false}, has_news_{false};
    std::atomic<int> threads_{1};
};

}  // namespace

DescentResult descend(const Model& model, const DescentOptions& options, const Report& report) {
    return Descent(model, options, report).run();
}

}  // namespace memplan
