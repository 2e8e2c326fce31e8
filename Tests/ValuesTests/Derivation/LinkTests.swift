import Foundation
import OperationCore
import OperationDerivation
import OperationTesting
import TestFixtures
import Testing

/// Derived queries that begin to follow another one whose run for its former subscribers was cancelled.
@Suite(.bounded, .warningsAreIssues)
struct LinkTests {
  private let client = OperationClient.automatic()
  private let cell = Cell("a", 1)

  @Test
  func `A run that ends with the last subscriber is made up for when a query follows at that moment`() async throws {
    let (gate, isHeld) = (Gate(), Box(false))
    let onCancel = Box<(@Sendable () -> Void)?>(nil)
    let inner = Derived("inner") { [cell] context in
      let value = try await context.value(of: cell.query)
      if isHeld.value {
        try await withTaskCancellationHandler {
          try await gate.wait()
        } onCancel: {
          onCancel.value?()
        }
      }
      return value
    }
    let outer = Derived("outer") { try await $0.value(of: inner.query) }
    let innerStore = self.client.store(for: inner.query)
    // It runs by request only, so that it follows the inner query without a run of its own.
    let outerStore = self.client.store(for: outer.query.enableAutomaticRunning(onlyWhen: .always(false)))
    try await expect(outerStore.fetch(), equals: 1)
    let first = Shown(innerStore)
    isHeld.value = true
    self.client.store(for: self.cell.query).currentValue = 2
    try await gate.arrivals(count: 1)
    isHeld.value = false
    // Called when the subscriber has left, and before the query knows that.
    let second = Box<OperationSubscription?>(nil)
    onCancel.value = { second.value = outerStore.subscribe(with: QueryEventHandler(), isolation: nil) }
    first.end()
    onCancel.value = nil
    await innerStore.settled()
    await self.client.settledDerivations()
    #expect(innerStore.subscriberCount == 1 && innerStore.currentValue == 2)
    second.value?.cancel()
  }

  @Test
  func `A source that was released during a run is read anew, although a run for that was cancelled`() async throws {
    let (innerGate, outerGate, isHeld) = (Gate(), Gate(), Box(false))
    let inner = Derived("inner") { [cell] context in
      if isHeld.value { try await innerGate.wait() }
      return try await context.value(of: cell.query)
    }
    let outer = Derived("outer") { try await $0.value(of: inner.query) }
    let innerStore = self.client.store(for: inner.query)
    let outerStore = self.client.store(for: outer.query.modifier(Holding(gate: outerGate)))
    let call = Task { try await outerStore.fetch() }
    // The run has found consistent what it has read.
    try await outerGate.arrivals(count: 1)
    self.cell.set(2)
    self.client.clearStore(with: self.cell.query.path)
    // The first subscriber of the inner query runs it, and leaves.
    isHeld.value = true
    let first = Shown(innerStore)
    try await innerGate.arrivals(count: 1)
    first.end()
    await innerStore.settled()
    isHeld.value = false
    let shown = Shown(outerStore)
    outerGate.open()
    _ = try await call.value
    await self.client.settledDerivations()
    #expect(shown.all.last == 2 && innerStore.currentValue == 2)
  }

  @Test
  func `A source that is set right after a reset for which it was waited in vain is read`() async throws {
    let (bodyGate, cellGate, isHeld) = (Gate(), Gate(), Box(false))
    let cell = self.cell
    let sourceQuery = { @Sendable in cell.query.enableAutomaticRunning(onlyWhen: .always(false)) }
    let derived = Derived("derived") { context in
      if isHeld.value { try await bodyGate.wait() }
      return try await context.value(of: sourceQuery())
    }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    await self.client.settledDerivations()
    // It runs for the store that takes the place of the source.
    isHeld.value = true
    self.client.clearStore(with: cell.query.path)
    try await bodyGate.arrivals(count: 1)
    let source = self.client.store(for: sourceQuery())
    // It is notified of a change before the query is, and lets that wait until the run has ended.
    let (hasEnded, isBlocking) = (DispatchSemaphore(value: 0), Box(false))
    let first = source.subscribe(
      with: QueryEventHandler(onStateChanged: { _, _ in
        if isBlocking.replace(with: false) { _ = hasEnded.waitForSignal() }
      }),
      isolation: nil
    )
    let end = store.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in if !state.isLoading { hasEnded.signal() } }),
      isolation: nil
    )
    cell.hold(at: cellGate)
    bodyGate.open()
    try await cellGate.arrivals(count: 1)
    isBlocking.value = true
    // The handler blocks this thread.
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        source.withExclusiveAccess { source in
          source.resetState()
          source.currentValue = 7
        }
        continuation.resume()
      }
    }
    await self.client.settledDerivations()
    #expect(store.currentValue == 7 && store.error == nil)
    for subscription in [first, end] { subscription.cancel() }
    shown.end()
  }
}

/// Holds the end of each run back until a gate opens.
private struct Holding<Operation: QueryRequest>: OperationModifier {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let value = try await operation.run(isolation: isolation, in: context, with: continuation)
    await self.gate.waitIgnoringCancellation()
    return value
  }
}
