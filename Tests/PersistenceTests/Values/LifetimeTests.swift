import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct LifetimeTests {
  @Test func `A store, its value and its client are released`() async throws {
    let storage = TestStorage(reads: false)
    weak var weakClient: OperationClient?
    weak var weakStore: TextStore?
    weak var weakScript: Script?
    do {
      let program = Program(storage)
      let script = Script()
      let store = program.store(script)
      store.currentValue = "a"
      await program.client.persistence.flush()
      (weakClient, weakStore, weakScript) = (program.client, store, script)
      program.client.clearStores()
    }
    // Before the storage has answered.
    #expect(weakClient == nil)
    #expect(weakStore == nil)
    #expect(weakScript == nil)
    storage.reading.open()
  }

  @Test func `Stores that many threads make, change and drop leave the newest value of each`() async throws {
    let program = Program()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for step in 0..<50 {
            program.store(Script(), number).currentValue = "\(number): \(step)"
            if step % 7 == 0 { program.client.clearStores(matching: ["text", number]) }
            if step % 11 == 0 { await program.client.persistence.flush() }
          }
        }
      }
    }
    #expect(await program.client.persistence.flush())
    for number in 0..<8 { expect(program.restarted().store(Script(), number).currentValue, equals: "\(number): 49") }
  }

  @Test func `One store that many threads change is stored as it is in the end`() async throws {
    for _ in 0..<20 {
      let program = Program()
      let store = program.store()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<4 {
          group.addTask {
            for step in 0..<25 {
              store.currentValue = "\(number): \(step)"
              if step % 5 == 0 { program.client.invalidate() }
              if step % 10 == 0 { await program.client.persistence.flush() }
            }
          }
        }
      }
      #expect(await program.client.persistence.flush())
      let restored = program.restarted().store()
      expect(restored.currentValue, equals: store.currentValue)
      expect(restored.valueUpdateCount, equals: 100)
      expect(restored.isStale, equals: store.isStale)
    }
  }
}
