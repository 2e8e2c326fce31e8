/// The body of an answer that is not a success.
package struct ErrorBody: Codable {
  package let message: String
}
