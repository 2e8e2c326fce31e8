internal import OperationCore

/// Runs the work that several conditions generate, one after the other, and throws the first of their errors at the end.
struct DependencySequence: OperationRequest, Sendable {
  private let steps: [any OperationRequest & Sendable]

  /// The work of two conditions; nil if neither generates work.
  static func combining(
    _ first: (any OperationRequest & Sendable)?,
    _ second: (any OperationRequest & Sendable)?
  ) -> (any OperationRequest & Sendable)? {
    guard let first else { return second }
    guard let second else { return first }
    return DependencySequence(steps: [first, second])
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    var first: (any Error)?
    for step in self.steps where !Task.isCancelled {
      let error = await step.runAsDependency(isolation: isolation, in: context)
      first = first ?? error
    }
    if let first { throw first }
  }
}

extension OperationRequest where Self: Sendable {
  /// Runs the work of a condition with the entries of the context in which the condition is evaluated. Returns its
  /// error.
  func runAsDependency(isolation: isolated (any Actor)?, in context: OperationContext) async -> (any Error)? {
    var context = context
    // The work is a run of its own, and not part of the store, the task or the attempt of the operation with the
    // condition.
    context.leaveRun()
    if context.scheduledStart != nil { context.scheduledStart = nil }
    do {
      _ = try await OperationRunner(operation: self, initialContext: context).run(isolation: isolation)
      return nil
    } catch {
      return error
    }
  }
}
