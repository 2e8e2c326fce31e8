extension OperationClient {
  /// Returns the object of a type that a module keeps with the client, and makes it at the first call.
  ///
  /// The object lives as long as the client. It must not keep the client alive.
  ///
  /// - Parameter make: Makes the object. When several threads make the first call, the object of one of them is kept.
  public func attachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    if let object = self.attachment(of: Object.self) { return object }
    let made = make()
    return self.attachments.withLock { attachments in
      if let object = attachments[ObjectIdentifier(Object.self)] { return object }
      attachments[ObjectIdentifier(Object.self)] = made
      return made
    } as? Object ?? made
  }

  /// Returns the object of a type that a module keeps with the client; nil if there is none.
  public func attachment<Object: AnyObject & Sendable>(of type: Object.Type) -> Object? {
    self.attachments.withLock { $0[ObjectIdentifier(type)] } as? Object
  }

  /// Keeps an object with the client, in place of the one of its type.
  public func attach<Object: AnyObject & Sendable>(_ object: Object) {
    self.attachments.withLock { attachments, released in
      released.append(attachments.updateValue(object, forKey: ObjectIdentifier(Object.self)))
    }
  }
}
