import Operation

extension OperationRequest {
  /// Holds each run back until the gate is open.
  func waiting(at gate: Gate) -> ModifiedOperation<Self, Gating<Self>> {
    self.modifier(Gating(gate: gate))
  }
}

/// A modifier of our own that delays what an operation does.
struct Gating<Operation: OperationRequest>: OperationModifier {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    await self.gate.pass()
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Keeps a request from being over before all callers that share it have asked, however fast the server is.
final class Gate: Sendable {
  private let opening: AsyncStream<Never>.Continuation
  private let opened: Task<Void, Never>

  init() {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    self.opening = continuation
    self.opened = Task { for await _ in stream {} }
  }

  func open() {
    self.opening.finish()
  }

  func pass() async {
    await self.opened.value
  }
}
