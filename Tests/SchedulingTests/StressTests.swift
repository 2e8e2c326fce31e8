import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

/// Thousands of random operations, for the thread sanitizer.
@Suite(.bounded, .warningsAreIssues)
struct StressTests {
  @Test(arguments: [UInt64(1), 2, 3])
  func `Random operations never overlap in a category, all of them end, and nothing is left`(seed: UInt64) async throws
  {
    let names = Names()
    let lifetimes = LifetimeTracker()
    let counters = (0..<3).map { _ in InsideCounter() }
    let finishes = Log<Int>()
    let bodies = Log<Int>()
    let count = 1_500
    do {
      let schedulers = [1, 2, 8].map { OperationScheduler(maximumConcurrentOperations: $0) }
      await withTaskGroup { group in
        for part in 0..<3 {
          group.addTask {
            var random = SeededGenerator(seed: seed &* 31 &+ UInt64(part))
            var recent: [ScheduledOperation<Void>] = []
            for number in 0..<(count / 3) {
              let scheduler = schedulers[Int.random(in: 0..<3, using: &random)]
              let token = lifetimes.token()
              let categories = Set(
                (0..<Int.random(in: 0...2, using: &random)).map { _ in Int.random(in: 0..<3, using: &random) }
              )
              let makesInner = Int.random(in: 0..<8, using: &random) == 0
              let work = Work<Void, any Error>("random") { _ in
                token.touch()
                bodies.append(part * count + number)
                for category in categories { counters[category].enter() }
                defer { for category in categories { counters[category].leave() } }
                await elsewhere()
                if makesInner {
                  try await scheduler.schedule(named: "inner") { _ in await elsewhere() }.value
                }
                if number.isMultiple(of: 11) { throw Refused() }
              }
              let result: OperationConditionResult = [
                .satisfied, .satisfied, .satisfied, .skipped, .denied(Refused()),
              ][
                Int.random(in: 0..<5, using: &random)
              ]
              let login = Int.random(in: 0..<4, using: &random) == 0 ? AnyWork { _ in await elsewhere() } : nil
              let operation = work.prepared { preparation in
                preparation.append(Check(dependency: login) { result }) { $0 }
                preparation.add(categories.sorted { _, _ in Bool.random() }.map { names("\($0)") })
              }
              let dependencies = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
                recent.randomElement(using: &random)
              }
              let scheduled = scheduler.schedule(
                operation,
                vital: Int.random(in: 0..<40, using: &random) == 0,
                priority: [TaskPriority.low, .medium, .high].randomElement(using: &random)
              ) { scheduled in
                for dependency in dependencies { scheduled.addDependency(dependency) }
                scheduled.observe { $0.didFinish { finishes.append(part * count + number) } }
              }
              recent.append(scheduled)
              if recent.count > 20 { recent.removeFirst() }
              if Int.random(in: 0..<5, using: &random) == 0 { scheduled.cancel() }
              if Int.random(in: 0..<10, using: &random) == 0 { recent.randomElement(using: &random)?.cancel() }
              if Int.random(in: 0..<50, using: &random) == 0 {
                scheduler.suspend()
                await elsewhere()
                scheduler.resume()
              }
            }
          }
        }
      }
      for scheduler in schedulers { scheduler.resume() }
      for scheduler in schedulers { await scheduler.waitUntilEmpty() }
      for scheduler in schedulers { expect(scheduler.operationCount, equals: 0) }
    }
    expect(finishes.all.count, equals: count)
    expect(Set(finishes.all).count, equals: count)
    expect(Set(bodies.all).count, equals: bodies.all.count)
    for counter in counters { #expect(counter.most <= 1) }
    try await lifetimes.noneAlive()
  }
}
