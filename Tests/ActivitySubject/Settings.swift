#if os(Linux)
  import OperationActivityObserving

  /// The settings in the arguments.
  struct Settings {
    var inactive: Set<ProcessSignal> = []
    var active: Set<ProcessSignal> = []
    var options: SignalActivityObserver.Options = .countsBackgroundAsActive
    /// The signal for which the program installs its own handler.
    var ownHandler: CInt?
    /// The signal for which the program creates its own event source.
    var ownSource: CInt?
    /// The path of the terminal whose session it starts.
    var terminal: String?

    init(_ arguments: some Sequence<String>) {
      for argument in arguments {
        let words = argument.split(separator: "=", maxSplits: 1)
        let value = words.count == 2 ? String(words[1]) : ""
        let signal = CInt(value)
        switch words[0] {
        case "inactive": self.inactive.formUnion(signal.map { [ProcessSignal(rawValue: $0)] } ?? [])
        case "active": self.active.formUnion(signal.map { [ProcessSignal(rawValue: $0)] } ?? [])
        case "background-is-inactive": self.options.remove(.countsBackgroundAsActive)
        case "watch-foreground": self.options.insert(.watchesForeground)
        case "own-handler": self.ownHandler = signal
        case "own-source": self.ownSource = signal
        case "terminal": self.terminal = value
        default: say("unknown argument \(argument)")
        }
      }
    }
  }
#endif
