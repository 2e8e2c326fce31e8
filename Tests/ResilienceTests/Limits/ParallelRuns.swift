import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures

/// Runs of eight tasks, which wait for a limit for a time, and some of which are cancelled.
struct ParallelRuns: Sendable {
  let clock = ManualClock()
  let overlaps = Overlaps()

  /// Makes four hundred runs.
  ///
  /// - Parameters:
  ///   - limit: The limit.
  ///   - seed: The seed of waits, cancellations and the time.
  ///   - edit: Changes the context of a run.
  func play(
    limitedBy limit: some OperationLimit,
    seed: UInt64,
    editing edit: @escaping @Sendable (inout OperationContext, inout SeededGenerator) -> Void = { _, _ in }
  ) async {
    let operation = CountedOperation(overlaps: self.overlaps)
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(worker))
          for _ in 0..<50 {
            var context = OperationContext()
            context.use(self.clock)
            edit(&context, &generator)
            let wait = generator.wait(upTo: 2)
            let isCancelled = Int.random(in: 0..<3, using: &generator) == 0
            let run = Task { [context] in
              try await operation.limited(by: limit, maximumWait: wait).runWithoutSetup(in: context)
            }
            if isCancelled { run.cancel() }
            if Bool.random(using: &generator) { self.clock.advance(by: .seconds(1)) }
            _ = await run.result
          }
        }
      }
    }
  }
}
