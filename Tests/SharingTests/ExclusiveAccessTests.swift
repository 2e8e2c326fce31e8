import Foundation
import Observation
import OperationTesting
import SharingOperation
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct ExclusiveAccessTests {
  @Test func `Readers are notified of changes in exclusive access when it ends`() {
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: makeClient(runsAutomatically: false))
    let watcher = Watcher { _ = shared.wrappedValue }

    shared.withExclusiveAccess { _ in
      shared.wrappedValue = 1
      shared.withExclusiveAccess { _ in shared.wrappedValue = 2 }
      expect(shared.wrappedValue, equals: 2)
      expect(watcher.count, equals: 0)
    }

    expect(watcher.count, equals: 1)
    expect(shared.wrappedValue, equals: 2)
  }

  @Test func `A wrapper is released in exclusive access to its store`() throws {
    let client = makeClient(runsAutomatically: false)
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: client)
    let other = Mutex<SharedOperation?>(SharedOperation(script.query(), client: client))
    let store = try #require(shared.store)
    expect(store.subscriberCount, equals: 2)

    shared.withExclusiveAccess { _ in
      let released = other.withLock { $0.take() }
      #expect(released != nil)
    }

    expect(store.subscriberCount, equals: 1)
  }

  @MainActor
  @Test func `On the main actor, exclusive access reads what another thread has set`() throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value
    let store = try #require($value.store)
    SetterThread { store.currentValue = 1 }.runAndWait()
    expect(value, equals: nil)

    $value.withExclusiveAccess { _ in value = (value ?? 0) + 1 }

    expect(store.currentValue, equals: 2)
    expect(value, equals: 2)
  }

  @MainActor
  @Test func `On the main actor, a change in exclusive access to the store shows at once and notifies once`() throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value
    let shared = $value
    let store = try #require($value.store)
    let watcher = Watcher { _ = shared.wrappedValue }

    store.withExclusiveAccess { _ in
      value = 1
      expect(value, equals: 1)
      expect(watcher.count, equals: 0)
    }

    expect(value, equals: 1)
    expect(watcher.count, equals: 1)
  }

  #if os(Linux)
    @Test func `A thread reads in exclusive access while another one tells the wrapper of a change`() async {
      await #expect(processExitsWith: .success) {
        let meeting = Meeting()
        let script = OperationScript<Int, any Error>()
        let client = makeClient(runsAutomatically: false)
        // Before the wrapper, so that it is called first.
        let first = client.store(for: script.query()).subscribe(with: meeting.handler())
        let shared = SharedOperation(script.query(), client: client, isolation: nil)

        let (setter, reader) = (DispatchGroup(), DispatchGroup())
        DispatchQueue(label: "setter").async(group: setter) { shared.wrappedValue = 1 }
        DispatchQueue(label: "reader").async(group: reader) { meeting.read(shared) }
        precondition(reader.waitForEnd(), "the reader stands")
        precondition(setter.waitForEnd(), "the setter stands")
        precondition(meeting.value == 1)
        first.cancel()
      }
    }

    @Test func `A thread reads in exclusive access while the main actor updates a wrapper`() async {
      await #expect(processExitsWith: .success) {
        await MainActor.run {
          let meeting = Meeting()
          let script = OperationScript<Int, any Error>()
          let client = makeClient(runsAutomatically: false)
          let first = client.store(for: script.query()).subscribe(with: meeting.handler())
          let shared = SharedOperation(script.query(), client: client, isolation: MainActor.shared)

          let reader = DispatchGroup()
          DispatchQueue(label: "reader").async(group: reader) { meeting.read(shared) }
          alarm(1_200)  // Ends the process if the main actor stands.
          shared.wrappedValue = 1
          precondition(reader.waitForEnd(), "the reader stands")
          precondition(meeting.value == 1)
          precondition(shared.wrappedValue == 1)
          first.cancel()
        }
      }
    }
  #endif
}

#if os(Linux)
  /// Brings a thread that delivers a change to a wrapper together with one that has exclusive access to the store.
  private final class Meeting: Sendable {
    private let delivers = DispatchSemaphore(value: 0)
    private let hasAccess = DispatchSemaphore(value: 0)
    private let goesOn = Atomic(false)
    private let state = Mutex((thread: "", value: Int?.none))

    var value: Int? { self.state.withLock { $0.value } }

    /// Stops the thread that delivers the value 1 until the other thread has exclusive access.
    func handler() -> OperationEventHandler<QueryState<Int, any Error>> {
      OperationEventHandler(onStateChanged: { state, _ in
        guard state.currentValue == 1 else { return }
        self.state.withLock { $0.thread = RunningThreads.current }
        self.delivers.signal()
        precondition(self.hasAccess.waitForSignal(), "nobody took access")
        self.goesOn.store(true, ordering: .releasing)
      })
    }

    /// Takes exclusive access while the other thread delivers, and reads when that one waits for the store.
    func read(_ shared: SharedOperation<QueryState<Int, any Error>>) {
      precondition(self.delivers.waitForSignal(), "nothing was delivered")
      shared.withExclusiveAccess { _ in
        self.hasAccess.signal()
        while !self.goesOn.load(ordering: .acquiring) { sched_yield() }
        precondition(
          RunningThreads.waitUntilBlocked(self.state.withLock { $0.thread }),
          "the other thread does not wait"
        )
        let value = shared.wrappedValue
        self.state.withLock { $0.value = value }
      }
    }
  }
#endif
