internal import OperationTop

/// What the arguments say.
struct TopSettings {
  let address: DevtoolsAddress
  var view = TopView()
  /// The number of tables; nil for a screen, or for tables without end.
  var count: Int?
  /// In seconds.
  var interval = 1.0

  /// Reads the arguments; nil if they are wrong.
  init?(_ arguments: [String]) {
    guard let text = arguments.first, let address = DevtoolsAddress(text), arguments.count % 2 == 1 else { return nil }
    self.address = address
    var rest = arguments.dropFirst()
    while let option = rest.popFirst(), let value = rest.popFirst() {
      switch option {
      case "--count":
        guard let count = Int(value), count > 0 else { return nil }
        self.count = count
      case "--interval":
        guard let interval = Double(value), interval > 0, interval < 86_400 else { return nil }
        self.interval = interval
      case "--sort":
        guard let order = TopModel.Order(rawValue: value) else { return nil }
        self.view.order = order
      case "--filter": self.view.filter = value
      default: return nil
      }
    }
  }
}
