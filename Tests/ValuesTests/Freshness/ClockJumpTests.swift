import OperationCore
import OperationFoundation
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// What a server has said about its values, while the clock of the machine is set.
@Suite(.bounded, .warningsAreIssues) struct ClockJumpTests {
  @Test(arguments: ModelRuns.seeds)
  func `However the clock is set, a value is fresh by it for as long as its server says`(seed: UInt64) async {
    await ModelRuns.check(50, seed: seed) { generator in
      let (clock, server) = (ManualClock(), Server())
      let store = IntStore.detached(query: server.query().honoringFreshness().manualTime(clock))
      var value: (date: Double, seconds: Double)?
      for step in 0..<40 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          let age = Int.random(in: 0...20, using: &generator)
          let lifetime = Int.random(in: 0...100, using: &generator)
          server.enqueue(step, ("Cache-Control", "max-age=\(lifetime)"), ("Age", "\(age)"))
          guard (try? await store.fetch()) == step else { return "step \(step): another value" }
          value = (clock.now().timeIntervalSinceReferenceDate, Double(lifetime - age))
        case 1:
          clock.setDate(clock.now() + Double(Int.random(in: -1_000...1_000, using: &generator)))
        default:
          clock.advance(by: .seconds(Int.random(in: 0...40, using: &generator)))
        }
        guard let value else { continue }
        // With a date in the future the age is unknown: the value is stale.
        let age = clock.now().timeIntervalSinceReferenceDate - value.date
        let isFresh = age >= 0 && age < value.seconds
        guard store.isStale != isFresh else { return "step \(step): wrong at an age of \(age) s" }
      }
      return nil
    }
  }
}
