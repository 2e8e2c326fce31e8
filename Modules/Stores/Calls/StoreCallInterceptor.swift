/// Stands between the callers of a store and its runs.
///
/// ```swift
/// final class Counting: StoreCallInterceptor {
///   let calls = Atomic<Int>(0)
///
///   nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
///     self.calls.add(1, ordering: .relaxed)
///     return await call.proceed()
///   }
/// }
/// ```
///
/// A modifier appends it to ``OperationContext/callInterceptors`` in its setup. It is outside of all modifiers: it gets
/// each call once, and not each attempt. Tasks that a caller makes, subscribers, controllers and runs behind a call do
/// not come through it.
public protocol StoreCallInterceptor: AnyObject, Sendable {
  /// Answers one call, in the task of the caller, with no lock held. Each caller has a call of its own.
  ///
  /// An answer changes no state: only the runs behind ``StoreCall/proceed()`` do. A cancelled caller gets what it would
  /// get without interceptors, so that no answer hides a cancellation.
  ///
  /// - Parameter call: The call. It is passed on, again and again, until this method returns, and not later.
  /// - Returns: The answer, which `call` has made.
  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer

  /// Decides whether a reader that does not wait may start a run: a new subscriber of a stale value, or a call that gets
  /// the stale value at once. True by default.
  ///
  /// Called with no lock held. Runs for other reasons, such as an invalidation, polling or a change, are not asked for.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - cause: Why it would run.
  /// - Returns: Whether it may run. All interceptors of the store have to agree.
  func mayRefresh(_ store: StoreReference, because cause: OperationRunCause) -> Bool
}

extension StoreCallInterceptor {
  public func mayRefresh(_ store: StoreReference, because cause: OperationRunCause) -> Bool { true }
}

/// The answer to a call of a store.
public struct StoreCallAnswer: Sendable {
  /// The value or the error that the caller gets.
  public let outcome: StoreOutcome

  /// Entries for the event of the caller's handler; nil for the outcome of a run, which the handler has heard.
  let entries: OperationContext?

  init(_ outcome: StoreOutcome, entries: OperationContext? = nil) {
    self.outcome = outcome
    self.entries = entries
  }
}

extension OperationContext {
  /// The interceptors of the calls of the store with this context, outermost first.
  ///
  /// A modifier appends its interceptor in its setup, before it calls `operation.setup(context:)`. The interceptors of the
  /// operation inside then come after it. Other stores and runners do not take interceptors from a context.
  public var callInterceptors: [any StoreCallInterceptor] {
    get { self[CallInterceptorsKey.self] }
    set { self[CallInterceptorsKey.self] = newValue }
  }

  enum CallInterceptorsKey: Key {
    static let defaultValue: [any StoreCallInterceptor] = []
    static let belongsToSetup = true
  }
}
