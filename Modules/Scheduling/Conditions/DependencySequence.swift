internal import OperationCore

/// Runs the work that several conditions ask for, one after the other. Failures are ignored.
struct DependencySequence: OperationRequest, Sendable {
  private let steps: [any OperationRequest & Sendable]

  /// The work of two conditions; nil if none of them asks for work.
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
    with continuation: OperationContinuation<Void, Never>
  ) async {
    for step in self.steps where !Task.isCancelled {
      await step.runAsDependency(isolation: isolation, in: context)
    }
  }
}

extension OperationRequest where Self: Sendable {
  /// Runs the operation for a condition of another one, with the entries of that one's context. Failures are ignored.
  func runAsDependency(isolation: isolated (any Actor)?, in context: OperationContext) async {
    var context = context
    // The work is a run of its own: not of the store, the task or the attempt of the operation that waits for it.
    context.leaveRun()
    if context.scheduledStart != nil { context.scheduledStart = nil }
    _ = try? await OperationRunner(operation: self, initialContext: context).run(isolation: isolation)
  }
}
