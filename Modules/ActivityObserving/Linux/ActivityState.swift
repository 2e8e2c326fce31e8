#if os(Linux)
  /// Makes one answer of all that says whether the process is active.
  ///
  /// What its changes return is to be told, in order.
  struct ActivityState: Hashable, Sendable {
    let options: SignalActivityObserver.Options
    /// Whether the program itself, or a signal, says that it is inactive.
    private(set) var isMarkedInactive = false
    /// Whether it is in the foreground of its terminal; nil where it has none.
    private(set) var isForeground: Bool?
    /// What was told last.
    private(set) var told = true

    init(options: SignalActivityObserver.Options) {
      self.options = options
    }

    private var isActive: Bool {
      if self.isMarkedInactive { return false }
      return self.options.contains(.countsBackgroundAsActive) || self.isForeground != false
    }
  }

  extension ActivityState {
    /// Begins anew, with what is known without having watched.
    mutating func begin(isForeground: Bool?) -> Bool {
      self.isForeground = isForeground
      self.told = self.isActive
      return self.told
    }

    /// Takes a mark of the program or of a signal.
    mutating func mark(isInactive: Bool) -> [Bool] {
      self.isMarkedInactive = isInactive
      return self.change()
    }

    /// Takes where the process stands in its terminal. To come to the foreground is to be looked at again.
    mutating func place(isForeground: Bool?) -> [Bool] {
      let hasComeForward = self.isForeground == false && isForeground == true
      self.isForeground = isForeground
      let change = self.change()
      return change.isEmpty && hasComeForward ? self.pulse() : change
    }

    /// Takes that the process was stopped or frozen and goes on, or that the machine slept: nobody looked meanwhile.
    mutating func goOn(isForeground: Bool?) -> [Bool] {
      self.isForeground = isForeground
      let change = self.change()
      return change.isEmpty ? self.pulse() : change
    }

    private func pulse() -> [Bool] {
      self.told ? [false, true] : []
    }

    private mutating func change() -> [Bool] {
      guard self.isActive != self.told else { return [] }
      self.told = self.isActive
      return [self.told]
    }
  }
#endif
