package import OperationFoundation

extension OperationContext {
  /// Why the run with this context has begun; nil outside a run.
  ///
  /// Handlers and modifiers find it in the contexts of a run and its events. Set it in the context of a call to tell why
  /// the call is made:
  ///
  /// ```swift
  /// var context = OperationContext()
  /// context.operationRunCause = OperationRunCause(OperationRunCause.Kind("push"), subject: "new-message")
  /// try await store.fetch(using: context)
  /// ```
  ///
  /// The name of the task that called is known only if the runs of the store are observed, or after the store was asked
  /// for an explanation.
  public var operationRunCause: OperationRunCause? {
    get { self.run.origin?.cause ?? (self.run.taskIdentifier == nil ? nil : .call) }
    set { self.run.origin = newValue.map { RunOrigin($0) } }
  }

  /// Keeps the start of a run, and the name of the task that has called.
  // Not inlined: nearly no store is watched.
  @inline(never)
  mutating func noteStart() {
    let cause = self.run.origin?.cause ?? OperationRunCause(.call(taskName: Task<Never, Never>.name))
    self.run.origin = RunOrigin(cause, start: (self.elapsed, self.date))
  }
}

/// Why a run has begun, and when. A plain call has no origin, unless the runs of the store are watched.
package final class RunOrigin: Sendable {
  let cause: OperationRunCause
  /// The elapsed time of the context's deadlines, and the date of its clock, at the start; nil if the runs of the store
  /// were not watched then.
  let start: (elapsed: Duration, date: Date)?

  package init(_ cause: OperationRunCause, start: (elapsed: Duration, date: Date)? = nil) {
    self.cause = cause
    self.start = start
  }

  /// The origin of runs for subscribers without a name, made once.
  static let subscriber = RunOrigin(OperationRunCause(.subscriber(name: nil)))
}

extension RunOrigin {
  /// The origin of runs for a subscriber.
  static func subscriber(named name: String?) -> RunOrigin {
    name.map { RunOrigin(OperationRunCause(.subscriber(name: $0))) } ?? .subscriber
  }
}
