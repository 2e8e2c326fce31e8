import Operation
internal import Service

// What a target adds to its keys may be in a file of this name.
extension PathKeys {
  /// The favourite of whoever uses the app.
  static var ownFavourite: OperationPathKey<QueryState<Article, any Error>> { self.favourite(of: "me") }
}
