import Operation
internal import Service

// The target's own extension of its keys, in a file whose name the generated file must not have.
extension PathKeys {
  /// The favourite of the current user.
  static var ownFavourite: OperationPathKey<QueryState<Article, any Error>> { self.favourite(of: "me") }
}
