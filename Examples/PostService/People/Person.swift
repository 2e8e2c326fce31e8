/// A person, as the user of the program sees them.
package struct Person: Hashable, Identifiable, Codable, Sendable {
  /// What a person is to the user.
  package enum Relationship: String, Hashable, Codable, Sendable {
    case stranger, hasRequested, friend, oneself
  }

  package let id: Int
  package var name: String
  package var relationship: Relationship
  /// The ids of all friends, in ascending order.
  package var friendIds: [Int]

  package init(id: Int, name: String, relationship: Relationship, friendIds: [Int]) {
    self.id = id
    self.name = name
    self.relationship = relationship
    self.friendIds = friendIds
  }
}

/// A part of a list of people, ordered by their ids.
package struct PeoplePage: Hashable, Codable, Sendable {
  package var people: [Person]
  package var isLast: Bool
}
