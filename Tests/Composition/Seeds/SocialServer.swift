import Operation

/// The server of the friend request samples. Each user has the same friends, and requests can be refused.
actor SocialServer {
  struct Refusal: Error {}

  private(set) var requestsSent: [Int] = []
  private(set) var pagesServed = 0
  private var refuses = false

  func refuseRequests() {
    self.refuses = true
  }

  func friends(of userId: Int, page: Int) -> [User] {
    self.pagesServed += 1
    return (1...3).map { user in
      User(
        id: page * 3 + user,
        relationship: self.requestsSent.contains(page * 3 + user) ? .friendRequestSent : .notFriends
      )
    }
  }

  func sendFriendRequest(userId: Int) throws {
    if self.refuses { throw Refusal() }
    self.requestsSent.append(userId)
  }
}

extension OperationContext {
  var socialServer: SocialServer {
    get { self[SocialServerKey.self] }
    set { self[SocialServerKey.self] = newValue }
  }

  private enum SocialServerKey: Key {
    static var defaultValue: SocialServer { SocialServer() }
  }
}
