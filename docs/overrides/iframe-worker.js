// A page that is opened as a file may not start a web worker, so search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      frame.srcdoc = "<!doctype html><title>Search</title><body>";
      this.inner = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) =>
            this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
          const script = inner.document.createElement("script");
          script.src = address;
          script.addEventListener("load", () => resolve(inner));
          inner.document.body.append(script);
        }, { once: true });
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inner.then((inner) =>
        inner.dispatchEvent(
          new inner.MessageEvent("message", { data: inner.structuredClone(data) }),
        ),
      );
    }
  };
}
