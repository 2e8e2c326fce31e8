public import OperationCore
public import OperationMutation

/// What later calls of a scope do once a call of it has become a dead letter.
public struct DeadLetterPolicy: Hashable, Sendable {
  enum Kind: Sendable {
    case holdScope
    case letPass
  }

  let kind: Kind

  /// They wait until the user has decided about it, because they may build on it.
  public static let holdScope = Self(kind: .holdScope)

  /// They are made without it.
  public static let letPass = Self(kind: .letPass)
}

extension MutationRequest {
  /// Says whether later calls of its scope wait for a journaled call that was given up.
  ///
  /// ```swift
  /// SendMessage().scope("chat").journaled(as: "send-message").deadLetters(.letPass)
  /// ```
  ///
  /// By default they wait until ``MutationJournal/retry(_:)`` makes it or ``MutationJournal/remove(_:)`` removes it: they
  /// may build on it. Their entries are ``JournalEntry/Status/blocked`` meanwhile, and the stores of their callers are
  /// paused. The same applies to a call that has expired after it was sent: see
  /// ``OperationMutation/MutationRequest/expires(after:)``.
  ///
  /// - Parameter policy: What later calls do. It is stored with each call.
  /// - Returns: The mutation with the policy in its context.
  public func deadLetters(_ policy: DeadLetterPolicy) -> ContextModifiedOperation<Self> {
    self.context { $0.deadLetterPolicy = policy }.written(".deadLetters(.\(policy.kind))")
  }
}

extension OperationContext {
  /// What later calls of the scope of a journaled call do once it is a dead letter.
  var deadLetterPolicy: DeadLetterPolicy {
    get { self[DeadLetterPolicyKey.self] }
    set { self[DeadLetterPolicyKey.self] = newValue }
  }

  private enum DeadLetterPolicyKey: Key {
    static let defaultValue = DeadLetterPolicy.holdScope
  }
}
