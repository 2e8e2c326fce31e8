public import OperationCore

/// A condition that is checked before an operation runs, and can generate work that makes it true.
///
/// ```swift
/// struct LoggedIn: OperationCondition {
///   let session: Session
///
///   func dependency(in context: OperationContext) async -> (any OperationRequest & Sendable)? {
///     await self.session.isLoggedIn ? nil : LoginOperation(session: self.session)
///   }
///
///   func evaluate(in context: OperationContext) async -> OperationConditionResult {
///     await self.session.isLoggedIn ? .satisfied : .denied(NotLoggedIn(cause: context.generatedWorkError))
///   }
/// }
///
/// let profile = ProfileQuery(id: 1).condition(LoggedIn(session: session))
/// ```
///
/// The model is the operation condition of "Advanced NSOperations" (WWDC 2015).
public protocol OperationCondition: Sendable {
  /// Whether operations with a condition of this type run one at a time. The default is false.
  static var isMutuallyExclusive: Bool { get }

  /// The categories in which the operation runs one at a time.
  ///
  /// The default is the type of the condition if it is mutually exclusive, and nothing otherwise.
  var exclusionCategories: [OperationCategory] { get }

  /// Returns work that may make the condition true, or nil for none, which is the default.
  ///
  /// Called once before each run. The work runs before any condition of the operation is evaluated, so a condition that
  /// holds already returns nil: it may ask an actor. A condition that need not wait can implement it without `async`.
  ///
  /// ``evaluate(in:)`` decides, even if the work has failed. It finds the error in
  /// ``OperationCore/OperationContext/generatedWorkError``.
  ///
  /// - Parameter context: The context of the run.
  /// - Returns: The work, or nil.
  func dependency(in context: OperationContext) async -> (any OperationRequest & Sendable)?

  /// Returns whether the operation may run.
  ///
  /// - Parameter context: The context of the run.
  /// - Returns: The result, which decides whether the operation runs.
  func evaluate(in context: OperationContext) async -> OperationConditionResult
}

extension OperationCondition {
  public static var isMutuallyExclusive: Bool { false }

  public var exclusionCategories: [OperationCategory] {
    Self.isMutuallyExclusive ? [OperationCategory(Self.self)] : []
  }

  public func dependency(in context: OperationContext) -> (any OperationRequest & Sendable)? { nil }
}

/// Whether a condition lets an operation run.
public enum OperationConditionResult: Sendable {
  /// The operation may run.
  case satisfied
  /// The operation does not run, which is not a failure: the run throws ``OperationSkipped``.
  case skipped
  /// The operation does not run, and throws this error.
  case denied(any Error)
}

extension OperationConditionResult {
  /// Whether the operation may run.
  public var isSatisfied: Bool { if case .satisfied = self { true } else { false } }
}

extension OperationCondition {
  /// The name of the condition in errors, which is the name of its type.
  var conditionName: String { OperationName.of(Self.self) }
}
