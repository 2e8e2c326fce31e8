/// The report: a line for each scene, and the checks that have failed.
struct Checks {
  private(set) var count = 0
  private(set) var failures: [String] = []

  mutating func expect(_ isTrue: Bool, _ sentence: String) {
    self.count += 1
    guard !isTrue else { return }
    self.failures.append(sentence)
    print("  ✗ not so: \(sentence)")
  }

  /// Prints a line of the table.
  static func line(_ scene: String, _ requests: String, _ upstream: String, _ outcome: String) {
    print(scene.padded(to: 34) + requests.padded(to: 10) + upstream.padded(to: 10) + outcome)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - self.count))
  }
}
