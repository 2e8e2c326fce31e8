/// A book of the server.
struct Book: Codable, Hashable {
  var id: Int
  var title: String
}
