import Operation

// What a target adds to its keys may be in a file of this name.
extension PathKeys.users {
  /// The profile of whoever uses the app.
  static var me: OperationPathKey<QueryState<User, any Error>> { self.profile(id: "me") }
}
