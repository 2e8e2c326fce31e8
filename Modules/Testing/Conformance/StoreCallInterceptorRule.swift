/// A rule for interceptors of calls, which callers and other interceptors rely on.
///
/// See `checkStoreCallInterceptor`.
@nonexhaustive(warn)
public enum StoreCallInterceptorRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// Each call gets an answer when its run has ended, also when it has failed.
  case answering
  /// The first call of a store gets the value, or the error, of its run.
  ///
  /// An interceptor with values of its own breaks this rule on purpose.
  case outcome
  /// A cancelled call ends at once, and the run of its only caller is cancelled.
  case cancellation
  /// A run goes on to the state after its caller was answered otherwise.
  case ownership
  /// Interceptors inside get the call, and those outside get the answer, also from a task of its own.
  case nesting
  /// Stores that share an interceptor get answers of their own.
  ///
  /// An interceptor that is made for each store breaks this rule on purpose.
  case independence

  /// The name of the rule.
  public var description: String { self.rawValue }
}
