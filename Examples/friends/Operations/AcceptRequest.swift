import Operation
import PostService

/// Accepts a friend request.
struct AcceptRequest: MutationRequest {
  let path: OperationPath = ["accept"]

  func mutate(
    isolation: isolated (any Actor)?,
    with person: Person,
    in context: OperationContext,
    with continuation: OperationContinuation<Person, any Error>
  ) async throws -> Person {
    try await context.postAPI.accept(person.id)
  }
}

extension AcceptRequest {
  /// The mutation with its effects on all stores of requests, people and friends.
  ///
  /// The effects are layers over the values of the server: nothing has to be saved before, nor restored after a
  /// failure. A layer is applied again when a newer value arrives below it, which the server may have sent after it had
  /// accepted the request. So an effect does not change a value that has the friendship already.
  static var everywhere: some MutationRequest<Person, Person, any Error> {
    AcceptRequest()
      .optimistic(on: ["requests"], of: FriendRequests.State.self) { requests, person in
        requests?.removeAll { $0.id == person.id }
      }
      .optimistic(on: ["people"], of: Profile.State.self) { shown, person in
        shown?.noteFriendship(with: person)
      }
      .optimistic(on: ["people"], of: FriendList.State.self) { pages, person in
        for page in pages { pages[id: page.id]?.value.noteFriendship(with: person) }
      }
      .optimistic(on: ["people", PeopleArchive.userID, "friends"], of: FriendList.State.self) { pages, person in
        pages.append(person)
      }
      // The server knows where in the list a new friend belongs.
      .invalidates(matching: ["people", PeopleArchive.userID, "friends"])
  }
}

extension Person {
  /// Makes a person and the user friends, if this is one of the two.
  mutating func noteFriendship(with person: Person) {
    switch self.id {
    case person.id:
      self.relationship = .friend
      self.addFriend(PeopleArchive.userID)
    case PeopleArchive.userID: self.addFriend(person.id)
    default: break
    }
  }

  private mutating func addFriend(_ id: Int) {
    if !self.friendIds.contains(id) { self.friendIds = (self.friendIds + [id]).sorted() }
  }
}

extension PeoplePage {
  mutating func noteFriendship(with person: Person) {
    for index in self.people.indices { self.people[index].noteFriendship(with: person) }
  }
}

extension Pages<Int, PeoplePage> {
  var people: [Person] { self.flatMap(\.value.people) }

  /// Adds a new friend at the end, if that is loaded.
  mutating func append(_ person: Person) {
    guard let last, last.value.isLast, !self.people.contains(where: { $0.id == person.id }) else { return }
    var friend = person
    friend.noteFriendship(with: person)
    self[id: last.id]?.value.people.append(friend)
  }
}
