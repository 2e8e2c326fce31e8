import Foundation
import OperationCore
import OperationDerivation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Long chains of derived queries.
@Suite(.bounded, .warningsAreIssues)
struct LongChainTests {
  @Test
  func `A chain subscribes to its sources, and leaves them, with a bounded stack`() async throws {
    let client = OperationClient.automatic()
    let cell = Cell("a", 1)
    var chain = [Derived("0") { try await $0.value(of: cell.query) + 1 }]
    for number in 1..<400 {
      let below = chain[number - 1]
      chain.append(Derived("\(number)") { try await $0.value(of: below.query) + 1 })
    }
    let store = client.store(for: chain[399].query)
    try await store.fetch()
    let source = client.store(for: cell.query)
    let counts = await onSmallStack {
      let shown = Shown(store)
      let count = source.subscriberCount
      shown.end()
      return [count, source.subscriberCount]
    }
    expect(counts, equals: [1, 0])
    #expect(chain.allSatisfy { $0.calls.value == 1 })
  }
}

extension LongChainTests {
  @Test
  func `A chain is released with its client with a bounded stack`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let holder = Holder(.automatic())
      let cell = Cell("a", 1)
      let token = lifetimes.token()
      let first = Derived("0") { context in
        token.touch()
        return try await context.value(of: cell.query) + 1
      }
      var chain = [first]
      for number in 1..<400 {
        let below = chain[number - 1]
        chain.append(Derived("\(number)") { try await $0.value(of: below.query) + 1 })
      }
      let subscription = try await holder.subscribe(to: chain[399])
      await onSmallStack { holder.release() }
      subscription.cancel()
    }
    try await lifetimes.noneAlive()
  }
}

/// Holds a client until a thread releases it.
private final class Holder: Sendable {
  private let client: Mutex<OperationClient?>

  init(_ client: OperationClient?) {
    self.client = Mutex(client)
  }

  func subscribe(to derived: Derived) async throws -> OperationSubscription {
    let store = self.client.withLock { $0 }?.store(for: derived.query)
    _ = try await store?.fetch()
    return store?.subscribe(with: QueryEventHandler(), isolation: nil) ?? .empty
  }

  func release() {
    let client = self.client.withLock { client in
      defer { client = nil }
      return client
    }
    _ = consume client
  }
}

/// Calls `body` on a thread with a stack of 512 kB, as threads have on other systems.
private func onSmallStack<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: body()) }
    thread.stackSize = 512 * 1_024
    thread.start()
  }
}
