import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Changes stores at random, restarts, and compares each store with the one before.
@Suite(.bounded, .warningsAreIssues) struct RestoreModelTests {
  private struct Facts: Equatable {
    let value: String?
    let valueUpdateCount: Int
    let errorUpdateCount: Int
    let dates: [Double?]
    let isStale: Bool

    init(_ store: TextStore) {
      let state = store.stateWithoutLayers
      self.value = state.currentValue
      self.valueUpdateCount = state.valueUpdateCount
      // The errors of a state without a value are not stored: there is no entry for them.
      self.errorUpdateCount = state.valueUpdateCount > 0 ? state.errorUpdateCount : 0
      self.dates = [state.valueLastUpdatedAt, self.errorUpdateCount > 0 ? state.errorLastUpdatedAt : nil]
        .map { $0?.timeIntervalSinceReferenceDate }
      self.isStale = store.isStale
    }
  }

  @Test(arguments: 0..<40) func `A store after a restart is what it was before`(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var program = Program()
    var script = Script(default: .error(Refused()))
    var stores = (0..<5).map { program.store(script, $0) }
    for step in 0..<60 {
      let store = stores[Int.random(in: 0..<5, using: &random)]
      switch Int.random(in: 0..<10, using: &random) {
      case 0...1: store.currentValue = "set in step \(step)"
      case 2: store.currentValue = nil
      case 3:
        script.enqueue(.yield(.success("yielded in \(step)"), then: .value("fetched in \(step)")))
        try await store.fetch()
      case 4: _ = try? await store.fetch()
      case 5: store.resetState()
      case 6: program.client.invalidate(matching: store.path)
      case 7: program.clock.advance(by: .milliseconds(Int.random(in: 0..<40_000, using: &random)))
      case 8:
        let fetch = Task.immediate { [script] in
          script.enqueue(.yield(.success("taken back"), then: .suspend))
          return try await store.fetch()
        }
        _ = try await script.next()
        fetch.cancel()
        _ = try? await fetch.value
      default:
        #expect(await program.client.persistence.flush())
        let before = stores.map { Facts($0) }
        program = program.restarted()
        if Bool.random(using: &random) { await program.client.restore() }
        script = Script(default: .error(Refused()))
        stores = (0..<5).map { program.store(script, $0) }
        expect(stores.map { Facts($0) }, equals: before, "in step \(step)")
      }
    }
  }
}
