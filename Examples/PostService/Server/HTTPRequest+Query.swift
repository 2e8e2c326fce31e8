import FlyingFox

extension [HTTPRequest.QueryItem] {
  /// The whole number of that name, `default` when it is not there, nil when it is no number or below 0.
  package func count(named name: String, default: Int) -> Int? {
    guard let text = self[name] else { return `default` }
    return Int(text).flatMap { $0 < 0 ? nil : $0 }
  }

  package var text: String {
    self.isEmpty ? "" : "?" + self.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }
}
