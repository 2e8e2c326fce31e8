import Synchronization

/// Stores people, their friendships, and the friend requests to the user. The user has the id 1.
package final class PeopleArchive: Sendable {
  package static let userID = 1
  package static let pageSize = 3

  private struct State {
    var names: [Int: String]
    var friends: [Int: Set<Int>] = [:]
    var requests: [Int] = []

    func person(_ id: Int) -> Person? {
      guard let name = self.names[id] else { return nil }
      let relationship: Person.Relationship =
        if id == PeopleArchive.userID {
          .oneself
        } else if self.friends[id]?.contains(PeopleArchive.userID) == true {
          .friend
        } else if self.requests.contains(id) {
          .hasRequested
        } else {
          .stranger
        }
      return Person(id: id, name: name, relationship: relationship, friendIds: (self.friends[id] ?? []).sorted())
    }
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - names: The names of the people, whose ids count from 1. The first is the user.
  ///   - friends: Pairs of friends.
  ///   - requests: The people that have sent the user a friend request, the first one first.
  package init(_ names: [String], friends: [(Int, Int)] = [], requests: [Int] = []) {
    var state = State(names: Dictionary(uniqueKeysWithValues: zip(1..., names)), requests: requests)
    for (one, other) in friends {
      state.friends[one, default: []].insert(other)
      state.friends[other, default: []].insert(one)
    }
    self.state = Mutex(state)
  }

  package func person(_ id: Int) -> Person? { self.state.withLock { $0.person(id) } }

  package var friendRequests: [Person] {
    self.state.withLock { state in state.requests.compactMap { state.person($0) } }
  }

  /// A person's friends in pages, ordered by their ids.
  package func friends(of id: Int, page: Int) -> PeoplePage {
    self.state.withLock { state in
      let friends = (state.friends[id] ?? []).sorted().compactMap { state.person($0) }
      let rest = friends.dropFirst(page * Self.pageSize)
      return PeoplePage(people: Array(rest.prefix(Self.pageSize)), isLast: rest.count <= Self.pageSize)
    }
  }

  /// Accepts a friend request; nil when that person has sent none.
  package func accept(_ id: Int) -> Person? {
    self.state.withLock { state in
      guard let index = state.requests.firstIndex(of: id) else { return nil }
      state.requests.remove(at: index)
      state.friends[id, default: []].insert(Self.userID)
      state.friends[Self.userID, default: []].insert(id)
      return state.person(id)
    }
  }
}
