#include "greedy/portfolio.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "greedy/orders.hpp"
#include "greedy/pass.hpp"

namespace memplan {

namespace {

constexpr std::chrono::milliseconds kBreath{3};
constexpr std::chrono::milliseconds kGrace{100};  // after a stop, before the one required placement is finished quickly
constexpr std::size_t kFew = 400;  // up to this many blocks and rects, a pass takes little longer than starting a thread, and all take unnoticeable time
using Clock = std::chrono::steady_clock;

constexpr Index kStart = 0;  // the given placement counts as a pass before the first one

// The best placement of each component. Ends up to `enough` count as equal; of equals the earlier pass wins, so the order of arrival does not matter.
class Best {
public:
    Best(const Blocks& blocks, const GreedyOptions& options)
        : blocks_(blocks), enough_(options.enough), passes_(static_cast<Index>(options.passes.size())), components_(blocks.components),
          offsets_(blocks.count, 0) {
        if (options.start.empty()) return;
        PassResult known{true, std::vector<Coord>(blocks.components, 0)};
        for (Index b = 0; b < blocks.count; ++b) {
            Coord& top = known.tops[blocks.component[b]];
            top = std::max(top, options.start[b] + blocks.high[b]);
        }
        take(kStart, known, options.start);
    }

    // True if a component improved.
    bool take(Index pass, const PassResult& result, std::span<const Coord> offsets) {
        std::vector<std::uint8_t> better(components_.size(), 0);
        bool any = false;
        for (std::size_t c = 0; c < components_.size(); ++c) {
            if (result.tops[c] < 0 || result.tops[c] > highest_end(c, pass)) continue;
            components_[c] = {true, std::max(result.tops[c], enough_), pass};
            better[c] = 1, any = true;
        }
        for (Index b = 0; any && b < blocks_.count; ++b) {
            if (better[blocks_.component[b]]) offsets_[b] = offsets[b];
        }
        return any;
    }

    // The highest end of a component at which the pass is still of use; -1 if there is none.
    Coord highest_end(std::size_t component, Index pass) const {
        const Known& known = components_[component];
        if (!known.placed) return kAddressLimit;
        if (pass < known.pass) return known.top;
        return known.top <= enough_ ? -1 : known.top - 1;
    }

    bool complete() const {
        return std::all_of(components_.begin(), components_.end(), [](const Known& known) { return known.placed; });
    }

    // The last pass that can be of use.
    Index last_pass() const {
        Index last = kStart;
        for (const Known& known : components_) {
            if (!known.placed || known.top > enough_) return passes_;
            last = std::max(last, known.pass);
        }
        return last;
    }

    const std::vector<Coord>& offsets() const { return offsets_; }
    std::vector<Coord> give_offsets() { return std::move(offsets_); }

private:
    struct Known {
        bool placed = false;
        Coord top = 0;
        Index pass = 0;
    };

    const Blocks& blocks_;
    Coord enough_;
    Index passes_;
    std::vector<Known> components_;
    std::vector<Coord> offsets_;
};

class Portfolio {
public:
    Portfolio(const SearchInput& input, const GreedyOptions& options)
        : blocks_(input), layout_(blocks_), passes_(options.passes), orders_(blocks_), sorted_(Orders::count()), order_(sorted_.size()), best_(blocks_, options),
          last_pass_(best_.last_pass()), must_place_(options.start.empty()) {}

    GreedyResult run(int threads, const GreedyReport& report) {
        const bool few = std::max<std::size_t>(blocks_.count, blocks_.rects.size()) <= kFew;
        const auto wanted = few ? std::size_t{0} : static_cast<std::size_t>(std::clamp(threads, 1, static_cast<int>(passes_.size())));
        std::vector<std::thread> workers;
        workers.reserve(wanted);
        try {
            while (workers.size() < wanted) workers.emplace_back([this] { work(); });
        } catch (const std::exception&) {  // If no more threads are available, the existing ones do all the work.
        }
        if (workers.empty()) work();
        try {
            wait(workers.size(), report);
        } catch (...) {
            break_off();
        }
        for (std::thread& worker : workers) worker.join();
        if (broken_) std::rethrow_exception(broken_);
        return {best_.complete(), best_.give_offsets()};
    }

private:
    void wait(std::size_t workers, const GreedyReport& report) {
        std::unique_lock lock(mutex_);
        std::optional<Clock::time_point> stopped;
        while (ended_ < workers) {
            changed_.wait_for(lock, kBreath, [&] { return ended_ == workers; });
            if (stopped && Clock::now() - *stopped >= kGrace) hurry_ = true;
            if (ended_ == workers || stop_) continue;
            std::vector<Coord> better;
            if (improved_ && best_.complete()) better = best_.offsets();
            improved_ = improved_ && better.empty();
            lock.unlock();
            if (report(better.empty() ? nullptr : &better)) stop_ = true, stopped = Clock::now();
            lock.lock();
        }
    }

    void work() {
        try {
            passes();
        } catch (...) {
            break_off();
        }
        const std::scoped_lock lock(mutex_);
        ++ended_;
        changed_.notify_one();
    }

    // Called in a catch block for an error that ends the work of all threads, such as lack of memory.
    void break_off() {
        const std::scoped_lock lock(mutex_);
        broken_ = std::current_exception();
        stop_ = true, hurry_ = true;
    }

    void passes() {
        Pass pass(blocks_, layout_);
        PassLimits limits;
        limits.last_pass = &last_pass_;
        while (true) {
            const Index number = ++taken_;
            limits.finish = number == 1 && must_place_;
            limits.stop = limits.finish ? &hurry_ : &stop_;
            if (number > last_pass_ || (stop_ && !limits.finish)) return;
            limits.number = number;
            limits.highest_end.resize(blocks_.components);
            {
                const std::scoped_lock lock(mutex_);
                for (Index c = 0; c < blocks_.components; ++c) limits.highest_end[c] = best_.highest_end(c, number);
            }
            const GreedyPass& next = passes_[number - 1];
            const PassResult result = pass.run(order(next.order), next.fit, limits);
            if (!result.ended) continue;
            const std::scoped_lock lock(mutex_);
            improved_ = best_.take(number, result, pass.offsets()) || improved_;
            last_pass_ = best_.last_pass();
        }
    }

    // Sorted on first use, then kept for other fits.
    const std::vector<Index>& order(std::size_t number) {
        std::call_once(sorted_[number], [&] { order_[number] = orders_.order(number); });
        return order_[number];
    }

    const Blocks blocks_;
    const Layout layout_;
    const std::vector<GreedyPass>& passes_;
    Orders orders_;
    std::vector<std::once_flag> sorted_;  // by the number of the order, like the next field
    std::vector<std::vector<Index>> order_;

    std::mutex mutex_;  // guards the following fields, except atomics
    std::condition_variable changed_;
    Best best_;
    bool improved_ = false;
    std::size_t ended_ = 0;
    std::exception_ptr broken_;
    std::atomic<bool> stop_ = false, hurry_ = false;
    std::atomic<Index> taken_ = 0;
    std::atomic<Index> last_pass_;
    bool must_place_;
};

}  // namespace

GreedyResult greedy(const SearchInput& input, const GreedyOptions& options, const GreedyReport& report) {
    return Portfolio(input, options).run(options.threads, report);
}

}  // namespace memplan
