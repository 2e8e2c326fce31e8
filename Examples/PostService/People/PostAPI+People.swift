import Foundation

extension PostAPI {
  /// A person's profile.
  package func person(_ id: Int) async throws -> Person {
    try await self.get(.person(id: id), path: "people/\(id)", as: Person.self)
  }

  /// A page of a person's friends, counted from 0.
  package func friends(of id: Int, page: Int) async throws -> PeoplePage {
    let query = [URLQueryItem(name: "page", value: "\(page)")]
    return try await self.get(.friends(of: id), path: "people/\(id)/friends", query: query, as: PeoplePage.self)
  }

  /// The people that have sent the user a friend request.
  package func friendRequests() async throws -> [Person] {
    try await self.get(.friendRequests, path: "requests", as: [Person].self)
  }

  /// Accepts a friend request, and returns the new friend.
  package func accept(_ id: Int) async throws -> Person {
    try await self.post(["id": id], as: .accept(id: id), path: "people/\(id)/accept", decoding: Person.self)
  }
}
