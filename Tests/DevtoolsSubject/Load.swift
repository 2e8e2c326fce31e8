#if SwiftOperationDevtools
  import Foundation
  import Operation
  import OperationDevtools

  /// Many stores, of which some are fetched all the time.
  struct Load: Sendable {
    private let client = OperationClient(storeCreator: .default(networkObserver: nil, activityObserver: nil))
    private let stores: [OperationStore<QueryState<Int, any Error>>]
    private let fetches: Int

    init(stores: Int, fetches: Int) {
      self.fetches = fetches
      self.stores = (0..<stores).map { [client] number in
        client.store(for: LoadQuery(number: number).stale(after: .seconds(60)))
      }
    }

    func run() async throws {
      let devtools = Devtools(self.client)
      DevtoolsSubject.say("ready")
      for await command in DevtoolsSubject.commands {
        let words = command.split(separator: " ")
        switch words.first {
        case "begin": DevtoolsSubject.say(try await devtools.start())
        case "end":
          await devtools.stop()
          DevtoolsSubject.say("ended")
        case "measure": await self.measure(seconds: words.last.flatMap { Double($0) } ?? 1)
        default: DevtoolsSubject.say("unknown: \(command)")
        }
      }
    }

    /// Fetches at the rate, a hundredth of it each hundredth of a second, and prints what a fetch takes.
    private func measure(seconds: Double) async {
      let clock = ContinuousClock()
      let (start, batch) = (clock.now, max(1, self.fetches / 100))
      var (times, rounds): ([Duration], Int) = ([], 0)
      while clock.now - start < .seconds(seconds) {
        // At the same time, so that the rate is reached also where a fetch takes longer.
        times += await withTaskGroup(of: Duration.self) { group in
          for index in 0..<batch {
            let store = self.stores[(rounds * batch + index) % self.stores.count]
            group.addTask {
              let begin = clock.now
              _ = try? await store.fetch()
              return clock.now - begin
            }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
        rounds += 1
        try? await clock.sleep(until: start + .milliseconds(10 * rounds))
      }
      let elapsed = (clock.now - start) / .seconds(1)
      times.sort()
      let mean = times.reduce(.zero, +) / times.count
      let parts = [
        "fetches \(times.count)", "rate \(Int(Double(times.count) / elapsed))",
        "median \(Int(times[times.count / 2] / .nanoseconds(1)))", "mean \(Int(mean / .nanoseconds(1)))",
        "p99 \(Int(times[times.count * 99 / 100] / .nanoseconds(1)))",
      ]
      DevtoolsSubject.say(parts.joined(separator: " "))
    }
  }

  /// A query that takes a millisecond, as one of a cache beside the program does.
  struct LoadQuery: QueryRequest, Hashable {
    let number: Int

    var path: OperationPath { ["load", self.number % 100, self.number] }

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      try await context.operationDeadlines.sleep(for: .milliseconds(1))
      return self.number
    }
  }
#endif
