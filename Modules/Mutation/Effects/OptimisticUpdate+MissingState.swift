public import OperationCore

extension MutationRequest {
  /// Says what is missing where an update does not name the kind of state that it changes.
  @available(*, unavailable, message: "name the kind of state: .optimistic(on: path, of: PostQuery.State.self) { … }")
  public func optimistic(on path: OperationPath, apply: (inout MissingState?, Arguments) -> Void) -> Self {
    preconditionFailure("Unavailable.")
  }

  /// Says what is missing where an update does not name the kind of state that it changes.
  @available(*, unavailable, message: "name the kind of state: .optimistic(on: path, of: PostQuery.State.self) { … }")
  public func optimistic(
    on path: (Arguments) -> OperationPath,
    apply: (inout MissingState?, Arguments) -> Void
  ) -> Self {
    preconditionFailure("Unavailable.")
  }
}

/// The value of a state whose type an optimistic update does not name.
///
/// Only messages of the compiler name it. It has every member, so that the compiler finds fault with what is missing, and not
/// with what the update does.
@dynamicMemberLookup
@dynamicCallable
public struct MissingState: Sendable {
  private init() {}

  /// A member of any name and type.
  public subscript<Member>(dynamicMember name: String) -> Member {
    get { preconditionFailure("Unavailable.") }
    set { preconditionFailure("Unavailable.") }
  }

  /// A method of any name.
  public subscript(dynamicMember name: String) -> MissingState { self }

  /// A call of such a method.
  @discardableResult
  public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) -> MissingState { self }
}
