public import OperationCore
internal import Synchronization

extension OperationRequest where Failure == any Error {
  /// Lets one run pass a turnstile at a time, in the order of the calls.
  ///
  /// A run fails with an `OperationCycleError` if the run that has the turn waits for it.
  public func queued(at turnstile: Turnstile) -> ModifiedOperation<Self, Queued<Self>> {
    self.modifier(Queued(turnstile: turnstile))
  }
}

/// The modifier that `.queued(at:)` applies.
public struct Queued<Operation: OperationRequest>: OperationModifier where Operation.Failure == any Error {
  let turnstile: Turnstile

  public func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
    context.setRunPreparation(TicketTaking(turnstile: self.turnstile))
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws -> Operation.Value {
    // A further attempt of the run takes a place of its own, as does a run that was made without a call.
    let ticket = context.takeTicket(of: self.turnstile) ?? self.turnstile.reserve()
    defer { self.turnstile.remove(ticket) }
    try await self.turnstile.pass(with: ticket, in: context)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// What a type of modifier is asked for, as `Queued` is generic.
private protocol QueuedModifier {}

extension Queued: QueuedModifier {}

/// Takes a place in the turn of the caller: the tasks of two runs may overtake each other.
private struct TicketTaking: OperationRunPreparation {
  let turnstile: Turnstile

  func runWillBegin(of operation: any OperationRequest.Type, in context: inout OperationContext) {
    // If a modifier outside may wait, the run takes its place when it comes: others would wait behind it meanwhile.
    guard operation.reachesAtOnce(where: { $0 is any QueuedModifier.Type }) else { return }
    context.ticket = TakenTicket(self.turnstile, of: context.operationRunningTaskIdentifier)
  }

  func runDidEnd(in context: OperationContext) {
    if let ticket = context.takeTicket(of: self.turnstile) { self.turnstile.remove(ticket) }
  }
}

/// A place that a call has taken for its run, which uses it once.
private final class TakenTicket: Sendable {
  let turnstile: Turnstile
  let run: OperationTaskIdentifier?
  private let ticket: Mutex<Turnstile.Ticket?>

  init(_ turnstile: Turnstile, of run: OperationTaskIdentifier?) {
    (self.turnstile, self.run) = (turnstile, run)
    self.ticket = Mutex(turnstile.reserve())
  }

  func take() -> Turnstile.Ticket? { self.ticket.withLock { $0.take() } }
}

extension OperationContext {
  /// The place of the run with this context, unless it was used; nil in another run that was given the context.
  fileprivate func takeTicket(of turnstile: Turnstile) -> Turnstile.Ticket? {
    guard let ticket, ticket.turnstile === turnstile else { return nil }
    return ticket.run == self.operationRunningTaskIdentifier ? ticket.take() : nil
  }

  fileprivate var ticket: TakenTicket? {
    get { self[TicketKey.self] }
    set { self[TicketKey.self] = newValue }
  }

  private enum TicketKey: Key {
    static let defaultValue: TakenTicket? = nil
  }
}
