extension Assets {
    static let styleSheet = """
        :root { color-scheme: light dark; --back: #fff; --text: #1c2126; --soft: #565f68; --line: #d5dae0;
          --head: #f3f5f7; --link: #0b5394; --mark: #fff3c4; --error: #a4161a; --live: #2a6f97; --history: #8d99ae;
          --dead: #d08c60; --pinned: #9b2226; --other: #ced4da; --in: #e3f4e6; --out: #fbe5e5; }
        @media (prefers-color-scheme: dark) { :root:not([data-look=light]) { --back: #15191d; --text: #e3e7eb;
          --soft: #a3adb7; --line: #373f47; --head: #1f252b; --link: #82bdf0; --mark: #4b4117; --error: #ff8f8f;
          --live: #61a5c2; --history: #79859c; --dead: #d99a6c; --pinned: #e5686d; --other: #4a525a; --in: #1b3a24;
          --out: #45221f; } }
        :root[data-look=dark] { color-scheme: dark; --back: #15191d; --text: #e3e7eb; --soft: #a3adb7;
          --line: #373f47; --head: #1f252b; --link: #82bdf0; --mark: #4b4117; --error: #ff8f8f; --live: #61a5c2;
          --history: #79859c; --dead: #d99a6c; --pinned: #e5686d; --other: #4a525a; --in: #1b3a24; --out: #45221f; }
        :root[data-look=light] { color-scheme: light; }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
        a { color: var(--link); }
        :focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
        .skip { position: absolute; left: -999px; }
        .skip:focus { left: 8px; top: 8px; background: var(--back); padding: 4px 8px; z-index: 2; }
        header { display: flex; flex-wrap: wrap; gap: 6px 18px; align-items: baseline; padding: 10px 16px;
          background: var(--head); border-bottom: 1px solid var(--line); }
        nav { display: flex; flex-wrap: wrap; gap: 4px 14px; flex: 1; }
        nav a[aria-current] { font-weight: 600; color: var(--text); text-decoration: none; }
        main { padding: 4px 16px 24px; max-width: 1500px; }
        main:focus { outline: none; }
        footer { padding: 8px 16px; color: var(--soft); font-size: 13px; border-top: 1px solid var(--line); }
        h1 { font-size: 22px; margin: 14px 0 10px; overflow-wrap: anywhere; } h2 { font-size: 17px; margin: 18px 0 6px; }
        .note, .none { color: var(--soft); font-size: 13px; } .none { font-style: italic; }
        .error { color: var(--error); white-space: pre-wrap; overflow-wrap: anywhere; }
        .past { background: var(--mark); padding: 6px 10px; border-radius: 4px; }
        .scroll { overflow-x: auto; max-width: 100%; }
        table { border-collapse: collapse; font-size: 14px; }
        caption { text-align: left; color: var(--soft); padding: 4px 0; }
        th, td { text-align: left; padding: 4px 10px; border-bottom: 1px solid var(--line); vertical-align: top;
          max-width: 420px; overflow-wrap: break-word; unicode-bidi: isolate; }
        thead th { background: var(--head); white-space: nowrap; }
        th[aria-sort=ascending] a::after { content: " \\2191"; } th[aria-sort=descending] a::after { content: " \\2193"; }
        tbody th { font-weight: 500; }
        tr:focus, tr.here { background: var(--mark); outline: none; }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        tr.insert td:first-child { background: var(--in); } tr.delete td:first-child { background: var(--out); }
        .values td { max-width: 900px; }
        pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace; }
        .image { max-width: 320px; max-height: 320px; border: 1px solid var(--line); }
        .fields { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; margin: 10px 0; }
        .fields fieldset { display: flex; gap: 8px 12px; align-items: end; border: 1px solid var(--line); }
        label { display: flex; flex-direction: column; font-size: 13px; color: var(--soft); position: relative; }
        label.wide { flex: 1 1 320px; }
        input, select, button, .button { font: inherit; padding: 5px 8px; color: var(--text); background: var(--back);
          border: 1px solid var(--soft); border-radius: 4px; max-width: 100%; }
        label.wide input { width: 100%; font-family: ui-monospace, monospace; font-size: 14px; }
        input[type=number] { width: 90px; }
        button, .button { background: var(--head); cursor: pointer; text-decoration: none; }
        .names { position: absolute; top: 100%; left: 0; z-index: 3; margin: 0; padding: 2px; list-style: none;
          background: var(--back); color: var(--text); border: 1px solid var(--soft); border-radius: 4px;
          max-height: 220px; overflow-y: auto; min-width: 180px; }
        .names li { padding: 3px 8px; cursor: pointer; } .names li[aria-selected=true] { background: var(--mark); }
        svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
        .bar rect, .chart rect { fill: var(--live); } .bar { vertical-align: middle; margin-left: 6px; }
        .plan { list-style: none; margin: 4px 0 4px 6px; padding-left: 14px; border-left: 2px solid var(--line); }
        .timeline rect { fill: var(--live); } .timeline .author1 { fill: var(--dead); }
        .timeline .author2 { fill: var(--history); } .timeline .author3 { fill: var(--pinned); }
        .timeline .author4 { fill: var(--soft); } .timeline .author5 { fill: var(--other); }
        .timeline { border-bottom: 1px solid var(--soft); }
        .model .entity rect { fill: var(--head); stroke: var(--soft); } .model .abstract rect { stroke-dasharray: 4; }
        .model .name { font-weight: 600; } .model path { fill: none; stroke: var(--soft); }
        .model .inherits path { stroke-dasharray: 5; } .model .relationship text { fill: var(--soft); font-size: 11px; }
        .segments .live { fill: var(--live); } .segments .history { fill: var(--history); }
        .segments .dead { fill: var(--dead); } .segments .pinned { fill: var(--pinned); }
        .segments .other { fill: var(--other); }
        .legend span { border-left: 14px solid; padding: 0 12px 0 5px; white-space: nowrap; }
        .legend .live { border-color: var(--live); } .legend .history { border-color: var(--history); }
        .legend .dead { border-color: var(--dead); } .legend .pinned { border-color: var(--pinned); }
        .legend .other { border-color: var(--other); }
        .rates { display: flex; flex-wrap: wrap; gap: 12px 24px; } .rates figure { margin: 0; }
        .rates figcaption { font-size: 13px; color: var(--soft); }
        .rates polyline { fill: none; stroke: var(--live); stroke-width: 1.5; } .rates svg { border: 1px solid var(--line); }
        dialog { background: var(--back); color: var(--text); border: 1px solid var(--soft); border-radius: 6px; }
        dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 14px; } dd { margin: 0; }
        kbd, dt { font-family: ui-monospace, monospace; }
        @media (max-width: 600px) { body { font-size: 14px; } main, header, footer { padding-left: 10px; padding-right: 10px; }
          .fields { flex-direction: column; align-items: stretch; } input[type=number] { width: 100%; }
          .fields fieldset { flex-wrap: wrap; } label.wide { flex: none; } th, td { padding: 4px 6px; } }
        """
}
