/// The error of a server that refuses a request.
package struct Refused: Error, Hashable {
  package var code: Int

  package init(code: Int = 0) {
    self.code = code
  }
}
