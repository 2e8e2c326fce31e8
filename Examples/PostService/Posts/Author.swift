/// The author of a post.
package struct Author: Hashable, Identifiable, Codable, Sendable {
  package let id: Int
  package let name: String
}

package struct AuthorList: Hashable, Codable, Sendable {
  package let users: [Author]
}

extension Author {
  /// The authors of the posts that the server holds, by the `userId` of a post.
  static let all = [
    Author(id: 1, name: "Ada Brandt"),
    Author(id: 2, name: "Mehmet Kaya"),
    Author(id: 3, name: "Ines Duarte"),
    Author(id: 4, name: "Jonas Lind"),
    Author(id: 5, name: "Priya Nair"),
    Author(id: 6, name: "Tomás Vega"),
    Author(id: 7, name: "Wen Li"),
    Author(id: 8, name: "Zoe Okafor"),
  ]
}
