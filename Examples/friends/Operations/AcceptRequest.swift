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
  /// The mutation with its effect, which is on profiles alone: what else the screens show is derived from these.
  ///
  /// The effect is a layer over the values of the server: nothing has to be saved before, nor restored after a failure.
  static var everywhere: some MutationRequest<Person, Person, any Error> {
    AcceptRequest()
      .optimistic(on: ["people"], of: QueryState<Person, any Error>.self) { shown, person in
        shown?.noteFriendship(with: person)
      }
      // Whatever shows one of the two is fetched again.
      .invalidates(tagged: { person, _ in [.person(person.id), .person(PeopleArchive.userID)] })
  }
}

extension Person {
  /// Makes a person and the user friends, if this is one of the two.
  fileprivate mutating func noteFriendship(with person: Person) {
    switch self.id {
    case person.id: self.relationship = .friend
    // The layer may lie over a value that has the friendship already.
    case PeopleArchive.userID where !self.friendIds.contains(person.id): self.friendIds.append(person.id)
    default: break
    }
  }
}
