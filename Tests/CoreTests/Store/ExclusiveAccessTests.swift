import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `withExclusiveAccess`: a read and a write that belong together, on any thread, nested.
@Suite(.bounded, .warningsAreIssues)
struct ExclusiveAccessTests {
  @Test
  func `Two threads that increment ten thousand times lose nothing`() async {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<10_000 { store.withExclusiveAccess { $0.currentValue = ($0.currentValue ?? 0) + 1 } }
        }
      }
    }
    expect(store.currentValue, equals: 20_000)
    expect(store.valueUpdateCount, equals: 20_000)
  }

  @Test
  func `Threads that increment with a subscriber deliver every value once, in order`() async throws {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<500 { store.withExclusiveAccess { $0.currentValue = ($0.currentValue ?? 0) + 1 } }
        }
      }
    }
    try await recorder.firstState { $0.currentValue == 1_000 }
    expect(recorder.stateValues, equals: Array(0...1_000))
  }

  @Test
  func `A thread increments while another subscribes and cancels`() async {
    let store = OperationClient().store(for: IntScript().query(), initialValue: 0)
    let recorder = IntRecorder()
    await withTaskGroup { group in
      group.addTask {
        for _ in 0..<1_000 { store.withExclusiveAccess { $0.currentValue = ($0.currentValue ?? 0) + 1 } }
      }
      group.addTask {
        for _ in 0..<1_000 { store.subscribe(with: recorder.handler).cancel() }
      }
    }
    expect(store.currentValue, equals: 1_000)
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `Access can be nested, and handlers are called when the outermost ends`() {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let value = store.withExclusiveAccess { outer in
      outer.currentValue = 1
      outer.withExclusiveAccess { inner in
        inner.currentValue = 2
        expect(inner.currentValue, equals: 2)
      }
      outer.currentValue = 3
      expect(recorder.stateValues, equals: [0])
      return outer.currentValue
    }
    expect(value, equals: 3)
    expect(recorder.stateValues, equals: [0, 1, 2, 3])
  }

  @Test
  func `An error of the body is thrown with its type, and the access has ended`() {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    #expect(throws: Refused(code: 5)) {
      try store.withExclusiveAccess { store throws(Refused) in
        store.currentValue = 1
        throw Refused(code: 5)
      }
    }
    store.currentValue = 2
    expect(store.currentValue, equals: 2)
  }

  @Test
  func `Inside, everything else of the store can be used`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.automaticQuery(), initialValue: 0)
    let recorder = IntRecorder()
    let subscription = store.withExclusiveAccess { store in
      store.context[NumberKey.self] = 4
      let subscription = store.subscribe(with: recorder.handler)
      expect(store.subscriberCount, equals: 1)
      #expect(store.isStale)
      #expect(store.isAutomaticRunningEnabled)
      store.setResult(to: .failure(Refused()))
      return subscription
    }
    let run = try await script.next()
    expect(run.context[NumberKey.self], equals: 4)
    store.withExclusiveAccess { $0.resetState() }
    try await run.cancelled()
    store.withExclusiveAccess { _ in subscription.cancel() }
    expect(store.subscriberCount, equals: 0)
    #expect(recorder.digests.starts(with: [.state(0), .state(0, error: "Refused(code: 0)")]))
  }

  @Test
  func `An erased store and controls share the access`() {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    let opaque = OpaqueOperationStore(erasing: store)
    store.withExclusiveAccess { _ in
      opaque.withExclusiveAccess { opaque in
        opaque.uncheckedSetCurrentValue(Int?.some(5))
        expect(store.currentValue, equals: 5)
      }
    }
    expect(opaque.currentValue as? Int, equals: 5)
  }

  @Test
  func `Another thread reads while a handler waits for it`() async throws {
    // With a lock held around handlers this would never end.
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    let seen = Box<[Bool]>([])
    try await offThePool {
      let subscription = store.subscribe(
        with: QueryEventHandler { _, _ in
          guard seen.value.isEmpty else { return }
          let isDone = onAnotherThread {
            _ = store.currentValue
            store.withExclusiveAccess { _ in }
            store.subscribe(with: IntRecorder().handler).cancel()
            store.setResult(to: .failure(Refused()))
          }
          seen.value += [isDone]
        }
      )
      subscription.cancel()
    }
    expect(seen.value, equals: [true])
  }
}
