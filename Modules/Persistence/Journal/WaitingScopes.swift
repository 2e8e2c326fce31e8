/// The scopes that wait because too many calls are made again at once, in order.
struct WaitingScopes: Sendable {
  private var scopes: [String] = []
  private var start = 0
  private var members: Set<String> = []

  var isEmpty: Bool { self.members.isEmpty }

  /// Adds a scope at the end, unless it is there.
  mutating func append(_ scope: String) {
    if self.members.insert(scope).inserted { self.scopes.append(scope) }
  }

  mutating func popFirst() -> String? {
    guard self.start < self.scopes.count else { return nil }
    let scope = self.scopes[self.start]
    self.members.remove(scope)
    self.start += 1
    if self.start > 32, self.start > self.scopes.count / 2 {
      self.scopes.removeFirst(self.start)
      self.start = 0
    }
    return scope
  }
}
