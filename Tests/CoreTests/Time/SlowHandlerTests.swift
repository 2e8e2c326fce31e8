import CoreFixtures
import Foundation
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Handlers that block hold up no deadline.
@Suite(.bounded, .warningsAreIssues)
struct SlowHandlerTests {
  private let release = DispatchSemaphore(value: 0)

  @Test
  func `A blocking action delays neither other actions nor sleeps`() async throws {
    let (source, release) = (SystemDeadlineSource(), self.release)
    let blocked = (0..<8).map { _ in Gate() }
    let actions = blocked.map { gate in
      source.schedule(after: .milliseconds(1)) {
        gate.open()
        release.wait()
      }
    }
    defer { for _ in actions { release.signal() } }
    for gate in blocked { try await gate.wait() }
    try await source.sleep(for: .milliseconds(1))
    let done = Gate()
    let other = source.schedule(after: .milliseconds(1)) { done.open() }
    try await done.wait()
    other.cancel()
  }

  @Test
  func `A watcher that blocks an eviction delays no sleep`() async throws {
    let (client, release) = (OperationClient(), self.release)
    let blocked = Gate()
    let subscription = client.subscribe { change in
      guard !change.storesRemoved.isEmpty else { return }
      blocked.open()
      release.wait()
    }
    // On a thread of its own: the store may be evicted before this reference to it is gone, and then the watcher blocks this thread.
    Thread.detachNewThread { _ = client.store(for: NumberQuery(1).cacheTime(.milliseconds(1))) }
    try await blocked.wait()
    defer { release.signal() }
    try await SystemDeadlineSource().sleep(for: .milliseconds(1))
    subscription.cancel()
  }

  @Test
  func `A handler that blocks a poll delays no sleep`() async throws {
    let release = self.release
    let blocked = Gate()
    let store = IntStore.detached(query: IntScript(default: .value(1)).query().rerun(every: .milliseconds(1)))
    let subscription = store.subscribe(
      with: OperationEventHandler(onStateChanged: { state, _ in
        guard state.isLoading, !blocked.isOpen else { return }
        blocked.open()
        release.wait()
      })
    )
    try await blocked.wait()
    defer {
      release.signal()
      subscription.cancel()
    }
    try await SystemDeadlineSource().sleep(for: .milliseconds(1))
  }

  @Test
  func `An action that is cancelled while it waits for its thread is not called, and is released`() {
    let lifetimes = LifetimeTracker()
    let subscription = SystemDeadlineSource().schedule(after: .seconds(3_600)) { [token = lifetimes.token()] in
      token.touch()
    }
    expect(lifetimes.aliveCount, equals: 1)
    subscription.cancel()
    expect(lifetimes.aliveCount, equals: 0)
  }
}
